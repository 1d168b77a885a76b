internal import BSONStore

/// The holders of files that are on this device only.
///
/// | what has the reference | the file |
/// |---|---|
/// | a document on the device, or one that left it | is sent with that document |
/// | a rejected write | stays until the app retries or discards the write |
/// | perhaps its own document, which is missing without a known delete | waits for a fetch |
/// | the edition that a pending change replaces | stays until the remote has the change or refuses it |
/// | nothing | is removed |
///
/// Every decision about such a file uses the whole table, since one document alone does not show whether
/// another one needs the file.
struct AttachmentHolders {
    let transaction: ReadTransaction

    /// What keeps a file that the remote does not have.
    enum Holder {
        /// A document on the device or one that left it, with its reference.
        case document(AttachmentRecord.Owner, Attachment)
        /// The file's own document: absence proves nothing.
        case missingDocument
        /// Only a rejected write, or an edition that a pending change replaces.
        case write
    }

    private typealias Files = [BSONObjectID: AttachmentRecord]
    private typealias Holders = [BSONObjectID: Holder]

    /// Returns what holds each of some files; those that nothing holds are not in the result.
    ///
    /// A file's own document comes first, so that the file does not move without need.
    ///
    /// - Parameter known: files that no document held before. A document that refers to one of them since
    ///   was noted, so all documents are read only for those that nothing else holds any more.
    func holders(
        of records: [AttachmentRecord], knownWithoutDocument known: Set<BSONObjectID>
    ) throws -> [BSONObjectID: Holder] {
        var own: Holders = [:]
        var rest: Files = [:]
        for record in records {
            if let holder = try ownDocument(of: record) {
                own[record.attachment.id] = holder
            } else {
                rest[record.attachment.id] = record
            }
        }
        guard !rest.isEmpty else { return own }
        let collections = try SyncCollectionTable(connection: transaction.connection).all()
        let others = try otherHolders(of: rest, in: collections)
        let sought = rest.filter { !known.contains($0.key) || others[$0.key] == nil }
        return try own.merging(documents(with: sought, in: collections)) { own, _ in own }
            .merging(others) { document, _ in document }
    }

    // MARK: - Documents

    /// Returns the references in a document that left the device; none for a document that is here or
    /// was deleted here.
    func leftReferences(of owner: AttachmentRecord.Owner) throws -> [Attachment] {
        guard try isAway(owner) else { return [] }
        let left = LeftReferenceTable(connection: transaction.connection)
        return try left.references(of: owner.documentID, in: owner.namespace)
    }

    /// Returns the sync record of a document.
    func record(of owner: AttachmentRecord.Owner) throws -> SyncRecord? {
        let stored = SyncCollectionTable(connection: transaction.connection)
        guard let collection = try stored.existing(owner.namespace) else { return nil }
        return try SyncRecordTable(connection: transaction.connection).record(
            of: owner.documentID, in: collection.rowID)
    }

    /// Whether a document is not on the device, and was not deleted here.
    private func isAway(_ owner: AttachmentRecord.Owner) throws -> Bool {
        try transaction.get(owner.namespace, id: owner.documentID) == nil
            && record(of: owner)?.isDeletedHere != true
    }

    private func ownDocument(of file: AttachmentRecord) throws -> Holder? {
        guard let owner = file.owner else { return nil }
        let references =
            try transaction.get(owner.namespace, id: owner.documentID).map(Attachment.all)
            ?? leftReferences(of: owner)
        if references.contains(file.attachment) { return .document(owner, file.attachment) }
        return references.first(where: file.isContent).map { .document(owner, $0) }
    }

    private func documents(
        with files: Files, in collections: [SyncCollectionState]
    ) throws -> Holders {
        guard !files.isEmpty else { return [:] }
        var found: Holders = [:]
        func note(_ references: [Attachment], _ owner: AttachmentRecord.Owner) {
            for reference in references where found[reference.id] == nil {
                found[reference.id] = .document(owner, reference)
            }
        }
        for namespace in collections.map(\.namespace) {
            try transaction.forEach(namespace) { document in
                let references = Self.references(to: files, among: Attachment.all(in: document))
                note(references, .init(namespace: namespace, documentID: document.documentID))
            }
        }
        let left = LeftReferenceTable(connection: transaction.connection)
        var last: Int64 = 0
        while found.count < files.count {
            let page = try left.page(after: last, limit: Self.pageSize)
            guard let end = page.last else { break }
            last = end.row
            for row in page {
                let references = Self.references(to: files, among: row.references)
                let owner = AttachmentRecord.Owner(
                    namespace: row.namespace, documentID: row.documentID)
                if try !references.isEmpty && isAway(owner) { note(references, owner) }
            }
        }
        return found
    }

    // MARK: - Others

    /// The number of rows that are read together.
    private static let pageSize = 500

    private func otherHolders(
        of files: Files, in collections: [SyncCollectionState]
    ) throws -> Holders {
        var found: Holders = [:]
        func note(_ document: BSONDocument?) {
            let references = document.map(Attachment.all) ?? []
            for reference in Self.references(to: files, among: references) {
                found[reference.id] = .write
            }
        }
        for collection in collections {
            try forEachPending(in: collection) { record in
                note(record.base.document(local: nil))
                note(record.attempt?.intended.document(local: nil))
            }
        }
        for (id, file) in files {
            if let owner = file.owner, try isMissing(owner) { found[id] = .missingDocument }
        }
        let rejected = RejectedWriteTable(connection: transaction.connection)
        for collection in collections {
            for rejection in try rejected.all(.reverted, in: collection) {
                note(rejection.write.document)
                note(rejection.write.laterDocument)
            }
        }
        return found
    }

    private func forEachPending(
        in collection: SyncCollectionState, _ body: (SyncRecord) -> Void
    ) throws {
        let records = SyncRecordTable(connection: transaction.connection)
        var last: Int64 = 0
        while true {
            let page = try records.page(
                of: .pending, in: collection.rowID, after: last, limit: Self.pageSize,
                bytesMax: SyncTransaction.batchReadBytesMax)
            guard let row = page.last?.rowID else { return }
            last = row
            page.forEach(body)
        }
    }

    /// Whether a document may be at the remote although it is not on the device: no delete of it is
    /// known, and what it referred to when it left, neither.
    private func isMissing(_ owner: AttachmentRecord.Owner) throws -> Bool {
        guard try isAway(owner), let record = try record(of: owner) else { return false }
        let left = LeftReferenceTable(connection: transaction.connection)
        guard try left.references(of: owner.documentID, in: owner.namespace).isEmpty else {
            return false
        }
        return !record.isOnlyRequested
    }

    private static func references(
        to files: Files, among references: [Attachment]
    ) -> [Attachment] {
        references.filter { files[$0.id]?.isContent(of: $0) == true }
    }
}

extension SyncRecord {
    /// Whether the record only has the document's id, and the remote was asked: it never had a document
    /// of this device's under the id.
    fileprivate var isOnlyRequested: Bool {
        base == .absent && !isPending && attempt == nil && unresolved.isEmpty && pause == nil
            && staleMark == 0
    }
}
