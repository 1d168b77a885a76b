public import BSONStore

/// One collection of an engine: its documents, and the choice of those that are synced.
///
/// Reads and writes are local: they work offline and never wait for the network. Each read also has
/// a form without `await`, for functions that are not asynchronous.
///
/// ```swift
/// let todos = engine.collection(Namespace("app", "todos"), of: Todo.self)
/// try await todos.insertOne(Todo(_id: 1, task: "Buy milk"))
/// try await todos.updateOne(["_id": 1], ["$set": ["done": true]])
/// let open = try await todos.find(["done": false])
/// ```
///
/// This file has the choice of the synced documents. Writes are in `SyncCollection+Documents.swift`,
/// reads in `SyncCollection+Reading.swift` and `+AsyncReading.swift`, subscriptions in
/// `+Subscribing.swift`, handlers and listeners in `+Listening.swift`.
public struct SyncCollection<Document: Sendable>: Sendable {
    /// The engine that syncs the collection.
    public let engine: SyncEngine
    /// The collection's name, locally and at the remote.
    public let namespace: Namespace
    let coding: DocumentCoding<Document>

    init(engine: SyncEngine, namespace: Namespace, coding: DocumentCoding<Document>) {
        self.engine = engine
        self.namespace = namespace
        self.coding = coding
    }
}

// MARK: - Which documents

extension SyncCollection {
    /// Begins the sync of documents with the next pass; ids that are already synced have no effect.
    ///
    /// An id that the remote does not hold waits until the document appears. When the remote
    /// deletes the document later, the sync of the id ends.
    ///
    /// - Throws: `StoreError` of code `badValue` for an array, a regular expression or undefined:
    ///   no document can have such an `_id`.
    public func sync(ids: some Sequence<BSONValue>) async throws {
        let ids = Array(ids)
        for id in ids { try Self.check(id, namespace) }
        let limit = engine.limits.batchDocuments
        try await write { transaction in
            try RequestIDs(sync: transaction).request(ids, batchSize: limit)
        }
        engine.wake()
    }

    private static func check(_ id: BSONValue, _ namespace: Namespace) throws(StoreError) {
        switch id {
        case .array, .regularExpression, .undefined:
            throw StoreError(
                .badValue, "no document can have an _id of this type", namespace: namespace,
                documentID: id)
        default: return
        }
    }

    /// Ends the sync of documents and removes their local copies, with their pending changes.
    ///
    /// A document that matches a subscription stays on the device and stays synced, with its
    /// pending changes. The remote's documents do not change.
    public func desync(ids: some Sequence<BSONValue>) async throws {
        let ids = Array(ids)
        try await write { transaction in
            for id in ids {
                guard let record = try transaction.record(id), let row = record.rowID else {
                    continue
                }
                let local = try transaction.local(id)
                if let local, try transaction.membership.keeps(local) {
                    // From now on only a subscription (a query) keeps it on the device.
                    try transaction.records.setReason(.query, ofRow: row)
                } else {
                    try Self.remove(record, local, in: transaction)
                }
            }
            // The documents may have been the last ones that a subscription of earlier kept.
            try ApplyMembership(sync: transaction).clearSubscribedMark()
        }
    }

    /// Ends the sync of a document and removes its local copy, in such a way that no delete is
    /// uploaded.
    private static func remove(
        _ record: SyncRecord, _ local: BSONDocument?, in transaction: SyncTransaction
    ) throws {
        let id = record.documentID
        // While the record exists, a removal counts as the user's delete and is uploaded.
        try ApplyMembership(sync: transaction).leave(record, local: local)
        try transaction.journal.forget(id, in: transaction.collection.rowID)
        guard local != nil else { return }
        let removed = try transaction.removeLocal(id, as: .desynced)
        try transaction.emit(.delete, .desync, removed, uncommitted: false)
    }

    /// Begins the sync of one document: Stitch's name for ``sync(ids:)``.
    public func syncOne(_ id: BSONValue) async throws { try await sync(ids: [id]) }

    /// Begins the sync of documents: Stitch's name for ``sync(ids:)``.
    public func syncMany(_ ids: BSONValue...) async throws { try await sync(ids: ids) }

    /// Ends the sync of one document: Stitch's name for ``desync(ids:)``.
    public func desyncOne(_ id: BSONValue) async throws { try await desync(ids: [id]) }

    /// Ends the sync of documents: Stitch's name for ``desync(ids:)``.
    public func desyncMany(_ ids: BSONValue...) async throws { try await desync(ids: ids) }

    /// The ids of all synced documents.
    public var syncedIDs: [BSONValue] {
        get async throws { try await documentIDs(.all) }
    }

    /// The ids of documents with an unconfirmed local change, including paused ones.
    public var pendingIDs: [BSONValue] {
        get async throws { try await documentIDs(.pending) }
    }

    /// The ids of paused documents; documents missing at the remote are in ``unexplainedIDs``.
    public var pausedIDs: [BSONValue] {
        get async throws { try await documentIDs(.paused) }
    }

    /// The ids of documents whose version field at the remote has a form that the engine does not
    /// recognise (rule R6 of `Docs/SYNC.md`).
    ///
    /// The engine downloads their content. Local changes stay pending until another client writes a
    /// valid version or removes the field.
    public var foreignVersionIDs: [BSONValue] {
        get async throws {
            try read { snapshot in
                try snapshot.records.foreignVersionIDs(in: snapshot.collection.rowID)
            } ?? []
        }
    }

    /// Returns the reason for a document's pause; `nil` when it is not paused or not synced.
    public func pauseReason(of id: BSONValue) async throws -> PauseReason? {
        try read { snapshot in try snapshot.record(id)?.pause }
    }

    /// Resumes the sync of a paused document; the next pass first fetches the remote's version.
    ///
    /// - Returns: whether the document is synced, paused before or not.
    @discardableResult
    public func resumeSync(of id: BSONValue) async throws -> Bool {
        let isSynced = try await write { transaction in
            guard var record = try transaction.record(id) else { return false }
            guard record.pause != nil else { return true }
            record.pause = nil
            record.failures = 0
            record.staleMark = try transaction.renewedStaleMark(of: record)
            try transaction.save(record)
            return true
        }
        if isSynced { engine.wake() }
        return isSynced
    }
}

// MARK: - What the other files of the type use

extension SyncCollection {
    /// Decodes a local document as the collection's type.
    ///
    /// - Throws: `SyncError` of code `.decodingFailed`; its message names the document.
    func decode(_ document: BSONDocument) throws -> Document {
        do {
            return try coding.decode(document)
        } catch {
            let failure = DocumentDecodingFailure(error, decoding: document, as: Document.self)
            throw SyncError(
                .decodingFailed, failure.description, namespace: namespace,
                documentID: document.documentID, underlying: failure)
        }
    }

    /// Runs a transaction of the app over the collection, which it registers at the first write.
    func write<R: Sendable>(
        _ body: @escaping @Sendable (SyncTransaction) throws -> R
    ) async throws -> R {
        try await engine.write(namespace, byApp: true, body)
    }

    /// Reads the collection's sync state; `nil` if it was never written or synced, or if the body
    /// finds nothing.
    func read<R>(_ body: (SyncSnapshot) throws -> R?) throws -> R? {
        try engine.store.read { transaction in
            let stored = SyncCollectionTable(connection: transaction.connection)
            guard let collection = try stored.existing(namespace) else { return nil }
            return try body(SyncSnapshot(transaction: transaction, collection: collection))
        }
    }

    private func documentIDs(_ selection: RecordSelection) async throws -> [BSONValue] {
        try read { snapshot in
            try snapshot.records.documentIDs(selection, in: snapshot.collection.rowID)
        } ?? []
    }
}
