internal import BSONStore

/// One transaction of the engine: documents, records and events of one collection change together
/// or not at all (rule R2).
struct SyncTransaction {
    /// The state of a running transaction.
    private final class Notes {
        /// The number of the transaction, once it was used.
        var number: Int64?
        /// Whether rejected writes have to be reported.
        var hasReport = false
        /// The membership by the subscription sets, once the transaction read them.
        var membership: Membership?
        /// The keys of documents removed without a delete: no record may upload a delete of them.
        var unsentRemovals: Set<[UInt8]> = []
        /// The buffer of new documents during a bulk insert.
        var arrivals: BulkInsertBuffer?
        /// The documents that were written or removed, where they are noted.
        var changed: [BSONValue] = []
        /// The pending documents with the files of their bases, where documents are noted.
        var pending: [(id: BSONValue, baseFiles: [BSONObjectID])] = []
        /// Whether the device has references of documents that left, once the transaction asked.
        var hasLeftReferences: Bool?
        /// The steps in the stories of documents that the transaction adds.
        var history = HistoryBuffer()
    }

    let transaction: WriteTransaction
    let collection: SyncCollectionState
    private let notes = Notes()
    private let sets: SubscriptionCache
    /// Whether records that were read before the transaction are used without another read; the
    /// write of one that has changed throws ``SyncRecordTable/OutdatedRevision``.
    var usesEarlierReads = false
    /// Whether written and removed documents are noted, since files may be beside them.
    var notesDocuments = false
    /// Whether the references of documents that leave the device are stored, since their files may not be
    /// at the remote yet.
    var keepsReferences = false
    /// Whether the transaction adds steps to the stories of documents.
    var keepsHistory = false
    /// The check of the app's writes, where the collection is strict.
    var strict: StrictWrites?

    init(
        transaction: WriteTransaction, collection: SyncCollectionState,
        sets: SubscriptionCache
    ) {
        self.transaction = transaction
        self.collection = collection
        self.sets = sets
    }

    /// The collection's membership by the subscription sets; empty where it never had a
    /// subscription.
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
        SyncRecordTable(connection: transaction.connection, checksRevisions: usesEarlierReads)
    }
    var wantedIDs: WantedIDTable { WantedIDTable(connection: transaction.connection) }
    var attemptBatches: AttemptBatchTable {
        AttemptBatchTable(connection: transaction.connection)
    }
    var rejectedWrites: RejectedWriteTable {
        RejectedWriteTable(connection: transaction.connection)
    }
    var collections: SyncCollectionTable {
        SyncCollectionTable(connection: transaction.connection)
    }
    var instance: SyncInstanceTable { SyncInstanceTable(connection: transaction.connection) }
    var unresolvedAttempts: UnresolvedAttemptTable {
        UnresolvedAttemptTable(connection: transaction.connection)
    }
    var journal: JournalTable { JournalTable(connection: transaction.connection) }
    var sharedConflicts: SharedConflictTable {
        SharedConflictTable(connection: transaction.connection)
    }
    var namespace: Namespace { collection.namespace }

    /// The number of bytes of a document that are reserved for the version field.
    static let versionReserve = 16 * 1024

    /// The maximum number of bytes of local documents that are read ahead.
    static let batchReadBytesMax = 4 * 1024 * 1024

    var snapshot: SyncSnapshot {
        SyncSnapshot(transaction: transaction, collection: collection)
    }

    /// Returns the local document.
    func local(_ id: BSONValue) throws -> BSONDocument? {
        try transaction.get(namespace, id: id)
    }

    /// Returns the local document with its place in the store.
    func stored(_ id: BSONValue) throws -> StoredDocument? {
        try transaction.found(namespace, id: id)
    }

    /// Returns the record of a document; `nil` for one that is not synced.
    func record(_ id: BSONValue) throws -> SyncRecord? {
        try records.record(of: id, in: collection.rowID)
    }

    /// Removes the record of a document that exists on neither side.
    func end(_ record: SyncRecord) throws {
        try unresolvedAttempts.add(record.unresolved, of: record.documentID, in: collection.rowID)
        try records.remove(record)
    }

    /// Returns the current record; reads it again only if it changed.
    func current(_ old: SyncRecord) throws -> SyncRecord? {
        // No other transaction can have inserted the record: wanted ids get theirs before that.
        if usesEarlierReads || old.rowID == nil { return old }
        guard let mark = try records.staleMark(ofUnchanged: old) else {
            return try record(old.documentID)
        }
        var record = old
        record.staleMark = mark
        return record
    }

    /// Stores a record with its next revision and returns the stored one.
    @discardableResult
    func save(_ record: SyncRecord) throws -> SyncRecord {
        var record = record
        // A row's number may be reused, but its revisions are not.
        if record.rowID == nil { record.revision = try firstRevision() - 1 }
        if record.isDeletedHere, !notes.unsentRemovals.isEmpty,
            notes.unsentRemovals.contains(BSONKey.encode(record.documentID))
        {
            record.isDeletedHere = false
        }
        if keepsHistory { noteMarks(of: record) }
        if notesDocuments, record.isPending {
            let base = record.base.document(local: nil)
            notes.pending.append(
                (record.documentID, base.map { Attachment.all(in: $0).map(\.id) } ?? []))
        }
        return try records.save(record, in: collection.rowID)
    }

    /// Returns the revision of the transaction's new records.
    func firstRevision() throws -> Int64 {
        try (transactionNumber() << SyncRecord.revisionBits) + 1
    }

    /// Runs a closure and stores its new documents together at the end.
    ///
    /// - Throws: the error of one document; the caller must roll the transaction back.
    func withBulkInsert<R>(_ body: () throws -> R) throws -> R {
        notes.arrivals = BulkInsertBuffer()
        defer { notes.arrivals = nil }
        let result = try body()
        if let arrivals = notes.arrivals { try arrivals.store(in: self) }
        return result
    }

    /// The documents that were written or removed, where ``notesDocuments`` is set.
    var changedDocuments: [BSONValue] { notes.changed }

    /// Returns the files to which a pending document refers and its base does not, where
    /// ``notesDocuments`` is set.
    ///
    /// A reference that comes back to the remote may be that of a file which the remote has removed.
    func addedFiles() throws -> [BSONObjectID] {
        var files: [BSONObjectID] = []
        for (id, baseFiles) in notes.pending {
            guard let local = try transaction.get(namespace, id: id) else { continue }
            files += Attachment.all(in: local).map(\.id).filter { !baseFiles.contains($0) }
        }
        return files
    }

    /// Notes a document that is written or removed.
    func noteChange(of id: @autoclosure () -> BSONValue) {
        if notesDocuments { notes.changed.append(id()) }
    }

    /// Stores a new document and its record, at once or in the buffer.
    func add(_ document: BSONDocument, _ record: SyncRecord) throws {
        noteChange(of: record.documentID)
        try noteReturn(of: record.documentID)
        if notes.arrivals?.take(document, record) ?? false { return }
        try transaction.insert(namespace, document)
        try save(record)
    }

    /// Returns the transaction's number, which is greater than those of earlier transactions.
    ///
    /// It is the transaction's stale mark, the base of its revisions and the batch of its rejected writes.
    /// One stale mark per transaction is enough, since only marks before and after a request are
    /// compared.
    func transactionNumber() throws -> Int64 {
        if let number = notes.number { return number }
        let number = try instance.nextTransactionNumber()
        notes.number = number
        return number
    }

    /// Marks a record that is saved afterwards as stale.
    ///
    /// The new mark keeps the cause of absence: the history reports a delete once.
    func makeStale(_ record: inout SyncRecord) throws {
        let cause = AbsenceCause(staleMark: record.staleMark)
        record.staleMark = cause.staleMark(try transactionNumber())
    }

    /// Marks a record that is saved afterwards as stale, unless it is.
    func keepStale(_ record: inout SyncRecord) throws {
        if record.staleMark == 0 { try makeStale(&record) }
    }

    /// Marks a stored record as stale, so that the document is fetched.
    ///
    /// - Parameter cause: the cause of absence for the fetch; `nil` keeps the previous one.
    func markStale(_ record: SyncRecord, _ cause: AbsenceCause? = nil) throws {
        guard record.rowID != nil else { return }
        if record.staleMark == 0 { note(.becameStale, of: record.documentID) }
        let cause = cause ?? AbsenceCause(staleMark: record.staleMark)
        try records.setStaleMark(of: record, to: cause.staleMark(try transactionNumber()))
    }

    /// Ends the pause of a record and makes it stale, so that the next pass first fetches the
    /// remote's document.
    func endPauseAndRefetch(of record: inout SyncRecord) throws {
        record.pause = nil
        record.failures = 0
        try makeStale(&record)
    }

    /// The place in the transaction's history to which a rollback returns.
    var storyMark: HistoryBuffer.Mark { notes.history.mark }

    /// Resets what the transaction noted in a savepoint that was rolled back: its number and
    /// the history after a mark.
    func noteRollback(to mark: HistoryBuffer.Mark) {
        notes.number = nil
        notes.history.removeEntries(after: mark)
    }

    /// Whether rejected writes have to be reported after the commit.
    var hasReport: Bool { notes.hasReport }

    /// Requests the report of rejected writes after the commit.
    func requestRejectionReport() { notes.hasReport = true }

    /// Stores the local document.
    ///
    /// - Parameter local: the previous local document.
    func setLocal(to document: BSONDocument, from local: KnownDocument = .unread) throws {
        noteChange(of: document.documentID)
        switch local {
        case .found: break
        case .unread, .absent: try noteReturn(of: document.documentID)
        }
        switch local {
        case .unread: try transaction.put(namespace, document)
        case .absent: try transaction.insert(namespace, document)
        case .found(let found): try transaction.replace(namespace, found, by: document)
        }
    }

    /// Stores the local document, or removes it for `nil`.
    func setLocal(_ id: BSONValue, to document: BSONDocument?, orRemoveAs removal: RemovalReason)
        throws
    {
        if let document {
            try setLocal(to: document)
        } else {
            try removeLocal(id, as: removal)
        }
    }

    /// Removes the local document; the engine removes documents only by this method.
    ///
    /// - Parameters:
    ///   - removal: the reason. Only some reasons lead to an upload, by the record's mark that the
    ///     caller stores in the same transaction.
    /// - Returns: the document's own `_id`, whose number type may differ from the record's; the
    ///   parameter where no document existed.
    @discardableResult
    func removeLocal(_ id: BSONValue, as removal: RemovalReason) throws -> BSONValue {
        noteChange(of: id)
        if !removal.isSent { notes.unsentRemovals.insert(BSONKey.encode(id)) }
        let taken = try transaction.take(namespace, id: id)
        switch removal {
        case .evicted, .syncEnded: try keepReferences(of: id, in: taken)
        case .byApp, .byAnswer, .byRemote, .takenBack: try keepReferences(of: id, in: nil)
        }
        return taken?.documentID ?? id
    }

    /// Stores the references in a document that leaves the device, in place of earlier ones; `nil` for a
    /// document whose files are not needed any more.
    func keepReferences(of id: BSONValue, in document: BSONDocument?) throws {
        guard keepsReferences else { return }
        let (left, references) = (
            LeftReferenceTable(connection: transaction.connection),
            document.map(Attachment.all) ?? []
        )
        let hasEarlier = try notes.hasLeftReferences ?? (left.newest() != nil)
        notes.hasLeftReferences = hasEarlier || !references.isEmpty
        guard hasEarlier || !references.isEmpty else { return }
        try left.set(references, of: id, in: collection.rowID)
    }

    /// Removes the references of a document that left the device and is here again, so that a later
    /// delete concerns its files, too.
    func noteReturn(of id: @autoclosure () -> BSONValue) throws {
        // Without a note of the change, only the references tell the next round of the document.
        guard notesDocuments else { return }
        try keepReferences(of: id(), in: nil)
    }

    /// Adds a step to the story of a document.
    func note(
        _ event: @autoclosure () -> HistoryEvent, of id: @autoclosure () -> BSONValue,
        operation: OperationID? = nil, from before: VersionField = .absent,
        to after: VersionField = .absent
    ) {
        guard keepsHistory else { return }
        notes.history.append(event(), of: id(), operation: operation, from: before, to: after)
    }

    /// Whether the transaction's history still takes the fields of conflicts.
    var takesConflictFields: Bool { !notes.history.isFullOfFields }

    /// Removes from the journal what it holds of the content of a document that leaves the device.
    func forgetEditions(of id: BSONValue) throws {
        try journal.forget(id, in: collection.rowID)
        try sharedConflicts.forget(id, in: collection.rowID)
        notes.history.removeFields(of: id)
        try HistoryTable(connection: transaction.connection).forgetFields(
            of: id, in: collection.rowID)
    }

    /// Notes the beginning and end of a pause, and of being stale, of a record that is saved.
    private func noteMarks(of record: SyncRecord) {
        let stored = record.storedMarks
        switch (stored.pause, record.pause) {
        case (nil, nil):
            if record.staleMark > 0, record.rowID != nil, !stored.isStale {
                note(.becameStale, of: record.documentID)
            }
        case (_?, nil): note(.resumed, of: record.documentID)
        case (let before, let reason?):
            if before != reason { note(.paused(reason), of: record.documentID) }
        }
    }

    /// Stores the steps that the transaction added; its last call.
    func storeHistory(_ limits: SyncLimits) throws {
        guard keepsHistory else { return }
        try HistoryTable(connection: transaction.connection).add(
            notes.history, in: collection.rowID, entriesMax: limits.historyKept,
            bytesMax: limits.historyBytesKept)
        notes.history = HistoryBuffer()
    }

    /// Stores an event for the collection's listeners.
    func emit(
        _ operationType: OperationType, of id: BSONValue, reason: ChangeReason,
        document: BSONDocument? = nil, update: UpdateDescription? = nil, uncommitted: Bool
    ) throws {
        guard collection.listens else { return }
        let event = ChangeEvent<BSONDocument>(
            sequence: 0, operationType: operationType, reason: reason, namespace: namespace,
            documentID: document?.documentID ?? id, fullDocument: document,
            updateDescription: update, hasUncommittedWrites: uncommitted)
        try EventOutbox.append(event, collection: collection.rowID, in: transaction.connection)
    }

    /// Stores the event of a document's change from one edition to another.
    func emitChange(
        _ reason: ChangeReason, _ id: BSONValue, from before: BSONDocument?,
        to after: BSONDocument?, uncommitted: Bool
    ) throws {
        guard collection.listens else { return }
        switch (before, after) {
        case (_, nil):
            try emit(
                .delete, of: before?.documentID ?? id, reason: reason, uncommitted: uncommitted)
        case (nil, let after?):
            try emit(
                .insert, of: id, reason: reason, document: after, uncommitted: uncommitted)
        case (let before?, let after?):
            let update = UpdateDescription.difference(from: before, to: after)
            try emit(
                update == nil ? .replace : .update, of: id, reason: reason, document: after,
                update: update, uncommitted: uncommitted)
        }
    }

    /// Returns whether an error concerns one document, not the store.
    static func concernsDocument(_ error: any Error) -> Bool {
        switch error {
        case is BSONError: true
        case let error as SyncError: error.code != .storeFailed || error.documentID != nil
        case let error as StoreError: !error.concernsFile
        default: false
        }
    }
}
