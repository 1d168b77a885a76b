/// A transaction that reads and writes documents; its changes are committed together or not at all.
///
/// It is valid only in the body that receives it. Its reads see its own writes.
///
/// One thread uses a transaction, and no access to the properties with `@exclusivity(unchecked)`
/// of its writer and recorder calls back into them; the runtime's checks of them took a twentieth of
/// an insert.
public final class WriteTransaction: ReadTransaction {
    /// The index by which updates and deletes find their documents; `nil` leaves it to the planner.
    package var hint: IndexHint?
    private let writer: DocumentWriter

    init(
        connection: SQLiteConnection, feed: ChangeFeed,
        clock: @escaping @Sendable () -> BSONDatetime
    ) {
        writer = DocumentWriter(connection, ChangeRecorder(feed, connection, clock: clock))
        super.init(connection: connection, isWriting: true)
    }

    /// A comment that is copied into each later change of the feed.
    public var comment: BSONValue? {
        get { writer.recorder.comment }
        set { writer.recorder.comment = newValue }
    }

    /// Whether writes skip the collections' validators.
    public var bypassesValidation: Bool {
        get { writer.bypassesValidation }
        set { writer.bypassesValidation = newValue }
    }

    /// Whether the sync engine writes; only the engine may write to synced collections directly.
    package var isEngineWrite: Bool {
        get { writer.isEngineWrite }
        set { writer.isEngineWrite = newValue }
    }

    /// Whether a client's multi-document transaction writes, which cannot change capped collections.
    package var leavesCappedAlone: Bool {
        get { writer.leavesCappedAlone }
        set { writer.leavesCappedAlone = newValue }
    }

    /// The recorder of changes.
    var recorder: ChangeRecorder { writer.recorder }

    /// Resets what one write set for itself, so that it does not affect the next one.
    func resetSettings() {
        hint = nil
        accessPolicy = nil
        writer.resetSettings()
    }

    /// Runs a body and undoes its changes when it throws; the transaction stays usable.
    ///
    /// - Throws: what the body throws, and SQLite's errors.
    public func savepoint<R>(_ body: () throws -> R) throws -> R { try writer.savepoint(body) }

    /// Runs a body in which documents may exchange the values of unique indexes, which are checked
    /// at its end.
    ///
    /// - Returns: the body's result, and an error (11000) with the `_id` of each document that took
    ///   a value which another one still has; undo the body by a savepoint around the call where
    ///   there are errors.
    /// - Throws: what the body throws, and SQLite's errors.
    package func deferringUniqueKeys<R>(
        _ body: () throws -> R
    ) throws -> (result: R, collisions: [StoreError]) {
        try writer.deferringUniqueKeys(body)
    }

    /// Whether this transaction created the collection.
    package func hasCreated(_ namespace: Namespace) throws(StoreError) -> Bool {
        try writer.hasCreated(namespace)
    }

    /// Discards cached tables after this transaction created one.
    package func invalidateTables() { writer.invalidateTables() }
}

// MARK: - Parts

extension WriteTransaction {
    /// The writes of single documents.
    var policyWriter: PolicyWriter { PolicyWriter(executor: executor, writer: writer) }

    /// The updates and deletes.
    var updates: UpdateExecutor { UpdateExecutor(policyWriter: policyWriter, hint: hint) }

    /// The changes of the list of collections.
    var catalogWriter: CatalogWriter { CatalogWriter(writer: writer) }

    /// The changes of the list of indexes.
    var indexCatalog: IndexCatalog { IndexCatalog(writer: writer, executor: executor) }

    /// The writer of documents into the changes that wrote them.
    var imageKeeper: ChangeImageKeeper {
        ChangeImageKeeper(connection: connection, feed: recorder.feed)
    }
}
