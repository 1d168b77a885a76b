public import BSONStore

/// One collection of an engine: its documents, and the choice of those that are synced.
///
/// Reads and writes are local: they work offline and never wait for the network. Each read has a
/// form without `await` for functions that are not asynchronous.
///
/// ```swift
/// let todos = engine.collection(Namespace("app", "todos"), of: Todo.self)
/// try await todos.insertOne(Todo(_id: 1, task: "Buy milk"))
/// try await todos.updateOne(["_id": 1], ["$set": ["done": true]])
/// let open = try await todos.find(["done": false])
/// ```
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
        try await write { sync in try RequestIDs(sync: sync).request(ids, batchSize: limit) }
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
        try await write { sync in
            for id in ids {
                guard let record = try sync.record(id) else { continue }
                let local = try sync.local(id)
                if let local, let row = record.rowID, try sync.membership.keeps(local) {
                    // Only the subscription keeps it from now on.
                    try sync.records.setClaim(row: row, byID: false)
                } else {
                    try Self.remove(record, local, in: sync)
                }
            }
            try ApplyMembership(sync: sync).clearSubscribedMark()
        }
    }

    /// Removes a record, and the local document in such a way that no delete is uploaded.
    private static func remove(
        _ record: SyncRecord, _ local: BSONDocument?, in sync: SyncTransaction
    ) throws {
        let id = record.documentID
        // The record goes first: with it, the removal of the document would be a local change.
        try ApplyMembership(sync: sync).leave(record, local: local)
        try sync.journal.forget(id, in: sync.collection.rowID)
        guard local != nil else { return }
        let removed = try sync.removeLocal(id, as: .desynced)
        try sync.emit(.delete, .desync, removed, uncommitted: false)
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

    /// The ids of documents whose version field at the remote was not written by this engine or
    /// Stitch: it has another form (rule R6 of `Docs/SYNC.md`).
    ///
    /// The engine downloads their content. Local changes stay pending until another client writes a
    /// valid version or removes the field.
    public var foreignVersionIDs: [BSONValue] {
        get async throws {
            try read { sync in
                try sync.records.foreignVersionIDs(in: sync.collection.rowID)
            } ?? []
        }
    }

    /// Returns the reason for a document's pause; `nil` when it is not paused or not synced.
    public func pauseReason(of id: BSONValue) async throws -> PauseReason? {
        try read { sync in try sync.record(id)?.pause }
    }

    /// Resumes the sync of a paused document; the next pass first fetches the remote's version.
    ///
    /// - Returns: whether the document is synced, paused before or not.
    @discardableResult
    public func resumeSync(of id: BSONValue) async throws -> Bool {
        let isSynced = try await write { sync in
            guard var record = try sync.record(id) else { return false }
            guard record.pause != nil else { return true }
            record.pause = nil
            record.failures = 0
            record.staleMark = try sync.renewedStaleMark(of: record)
            try sync.save(record)
            return true
        }
        if isSynced { engine.wake() }
        return isSynced
    }
}

// MARK: - Reads and writes

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

    func write<R: Sendable>(
        _ body: @escaping @Sendable (SyncTransaction) throws -> R
    ) async throws -> R {
        try await engine.write(namespace, byApp: true, body)
    }

    func read<R>(_ body: (SyncSnapshot) throws -> R?) throws -> R? {
        try engine.store.read { transaction in
            let stored = SyncCollectionTable(connection: transaction.connection)
            guard let collection = try stored.existing(namespace) else { return nil }
            return try body(SyncSnapshot(transaction: transaction, collection: collection))
        }
    }

    private func documentIDs(_ selection: SyncRecordTable.Selection) async throws -> [BSONValue] {
        try read { sync in
            try sync.records.documentIDs(selection, in: sync.collection.rowID)
        } ?? []
    }
}
