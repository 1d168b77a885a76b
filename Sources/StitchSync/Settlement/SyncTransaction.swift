package import BSONStore

/// One transaction of the store as the engine uses it: documents, records and events of one
/// collection change together or not at all (rule R2).
struct SyncTransaction {
    /// What a transaction notes on its way.
    private final class Notes {
        /// The hint of the transaction, once it gave one.
        var hint: Int64?
        /// Rejected writes are to be told of.
        var hasReport = false
        /// What the sets of subscriptions ask for, once the transaction read them.
        var membership: Membership?
        /// Documents that went from here and were deleted by nobody: no record may send that.
        var unsentRemovals: Set<[UInt8]> = []
        /// What is new here, while it is stored together.
        var arrivals: BulkInsertBuffer?
    }

    let transaction: WriteTransaction
    let collection: SyncStateTable.Collection
    private let notes = Notes()
    private let sets: SubscriptionCache
    /// Records are taken to be as they were read before; ``SyncRecordTable/StaleRevision`` says that one is
    /// not, when it is written.
    var trusts = false
    /// Judges what the app writes, where the collection is strict.
    var strict: StrictWrites?
    /// What the app wants of what a look finds, in the transaction of a look.
    var wishes: SettlementPolicy?

    /// The keys that a look at every row found, of the documents that are missing in a look.
    var scan: Set<[UInt8]>?

    /// What is told of documents that come in.
    var insertReason = ChangeReason.remote

    init(
        transaction: WriteTransaction, collection: SyncStateTable.Collection,
        sets: SubscriptionCache
    ) {
        self.transaction = transaction
        self.collection = collection
        self.sets = sets
    }

    /// What the sets of subscriptions ask of the collection; nothing where none ever asked.
    var membership: Membership {
        get throws {
            guard collection.isSubscribed else { return Membership() }
            if let membership = notes.membership { return membership }
            let history = try subscriptions.history()
            let membership = Membership(history, of: namespace)
            notes.membership = membership
            return membership
        }
    }

    var subscriptions: SubscriptionTable {
        SubscriptionTable(connection: transaction.connection, cache: sets)
    }

    var records: SyncRecordTable {
        SyncRecordTable(connection: transaction.connection, trusts: trusts)
    }
    var state: SyncStateTable { SyncStateTable(connection: transaction.connection) }
    var givenUp: UnresolvedAttemptTable {
        UnresolvedAttemptTable(connection: transaction.connection)
    }
    var journal: JournalTable { JournalTable(connection: transaction.connection) }
    var namespace: Namespace { collection.namespace }

    /// The bytes of a document that are left for the version field.
    static let versionReserve = 16 * 1024

    /// The bytes of local documents that are read before the first of them is looked at.
    static let batchReadBytesMax = 4 * 1024 * 1024

    /// Revisions that a record may have before they could meet those of a later one in its row.
    static let revisionBits = 24

    var snapshot: SyncSnapshot {
        SyncSnapshot(transaction: transaction, collection: collection)
    }

    /// The local document.
    func local(_ id: BSONValue) throws -> BSONDocument? {
        try transaction.get(namespace, id: id)
    }

    /// The local document with its place in the store.
    func stored(_ id: BSONValue) throws -> StoredDocument? {
        try transaction.found(namespace, id: id)
    }

    /// The record of a document.
    func record(_ id: BSONValue) throws -> SyncRecord? {
        try records.record(collection.rowID, id: id)
    }

    /// Removes the record of a document that neither side has any more.
    func end(_ record: SyncRecord) throws {
        try givenUp.keep(record.discarded, of: record.documentID, in: collection.rowID)
        try records.remove(record)
    }

    /// A record as it is now; read again only where it is another than it was.
    func current(_ old: SyncRecord) throws -> SyncRecord? {
        // No record yet: nobody else made one, since ids that wait for one are spread before that.
        if trusts || old.rowID == nil { return old }
        guard let hint = try records.hint(ofUnchanged: old) else {
            return try record(old.documentID)
        }
        var record = old
        record.hint = hint
        return record
    }

    /// Stores a record under its next revision and returns it as stored.
    @discardableResult
    func save(_ record: SyncRecord) throws -> SyncRecord {
        var record = record
        // A row's number may be used again; its revisions are not.
        if record.rowID == nil { record.revision = try firstRevision() - 1 }
        if record.isDeletedHere, !notes.unsentRemovals.isEmpty,
            notes.unsentRemovals.contains(BSONKey.encode(record.documentID))
        {
            record.isDeletedHere = false
        }
        return try records.save(record, in: collection.rowID)
    }

    /// The revision of the transaction's new records.
    func firstRevision() throws -> Int64 { try (nextStaleMark() << Self.revisionBits) + 1 }

    /// Runs a body, at whose end what it took is stored together.
    ///
    /// - Throws: what stands in the way of one of them; the transaction is to be undone then.
    func withBulkInsert<R>(_ body: () throws -> R) throws -> R {
        notes.arrivals = BulkInsertBuffer()
        defer { notes.arrivals = nil }
        let result = try body()
        if let arrivals = notes.arrivals { try store(arrivals) }
        return result
    }

    /// Stores a document that is not here and its record, at once or with others.
    func add(_ document: BSONDocument, _ record: SyncRecord) throws {
        if notes.arrivals?.take(document, record) ?? false { return }
        try transaction.insert(namespace, document)
        try save(record)
    }

    /// A number for a hint, greater than those of all earlier transactions.
    ///
    /// One number serves a transaction: what is compared are hints of before and after a request.
    func nextStaleMark() throws -> Int64 {
        if let number = notes.hint { return number }
        let number = try state.nextStaleMark()
        notes.hint = number
        return number
    }

    /// Forgets the transaction's hint, which a savepoint may have taken back.
    func resetStaleMark() { notes.hint = nil }

    /// Whether rejected writes are to be told of once this is committed.
    var hasReport: Bool { notes.hasReport }

    /// Notes that rejected writes are to be told of.
    func requestRejectionReport() { notes.hasReport = true }

    /// Makes the local document what is given.
    ///
    /// - Parameter local: the local document, where this transaction has read it.
    func setLocal(to document: BSONDocument, from local: StoredDocument?? = nil) throws {
        switch local {
        case .none: try transaction.put(namespace, document)
        case .some(nil): try transaction.insert(namespace, document)
        case .some(let found?): try transaction.replace(namespace, found, by: document)
        }
    }

    /// Makes the local document what is given, or removes it where that is nothing.
    func setLocal(_ id: BSONValue, to document: BSONDocument?, orRemoveAs removal: RemovalReason)
        throws
    {
        if let document {
            try setLocal(to: document)
        } else {
            try removeLocal(id, as: removal)
        }
    }

    /// Removes the local document; all that the engine removes goes through here.
    ///
    /// - Parameters:
    ///   - removal: which road it goes; only some of them are sent, by the record's mark that the
    ///     caller stores in the same transaction.
    /// - Returns: the document's own `_id`, which may be another type of number than that of the
    ///   record; what was given where nothing was there.
    @discardableResult
    func removeLocal(_ id: BSONValue, as removal: RemovalReason) throws -> BSONValue {
        if !removal.isSent { notes.unsentRemovals.insert(BSONKey.encode(id)) }
        return try transaction.take(namespace, id: id)?.documentID ?? id
    }

    /// Keeps an event for the collection's listeners.
    func emit(
        _ operationType: OperationType,
        _ reason: ChangeReason, _ id: BSONValue,
        document: BSONDocument? = nil, update: UpdateDescription? = nil, uncommitted: Bool
    ) throws {
        guard collection.listens else { return }
        let event = ChangeEvent<BSONDocument>(
            sequence: 0, operationType: operationType, reason: reason, namespace: namespace,
            documentID: document?.documentID ?? id, fullDocument: document,
            updateDescription: update, hasUncommittedWrites: uncommitted)
        try EventOutbox.append(event, collection: collection.rowID, in: transaction.connection)
    }

    /// Keeps the event of a document that went from one edition to another.
    func emitChange(
        _ reason: ChangeReason, _ id: BSONValue, from before: BSONDocument?,
        to after: BSONDocument?, uncommitted: Bool
    ) throws {
        guard collection.listens else { return }
        switch (before, after) {
        case (_, nil):
            try emit(.delete, reason, before?.documentID ?? id, uncommitted: uncommitted)
        case (nil, let after?):
            try emit(.insert, reason, id, document: after, uncommitted: uncommitted)
        case (let before?, let after?):
            let update = UpdateDescription.difference(from: before, to: after)
            try emit(
                update == nil ? .replace : .update, reason, id, document: after, update: update,
                uncommitted: uncommitted)
        }
    }
}

extension BSONDocument {
    /// The document without its version field; itself when it has none.
    package var withoutVersion: BSONDocument { parted(from: DocumentVersion.fieldName).rest }

    /// The document's `_id`, null when it has none.
    var documentID: BSONValue { self["_id"] ?? .null }
}
