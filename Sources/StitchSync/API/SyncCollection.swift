public import BSONStore

/// One collection of an engine: its documents, and the choice of those that are synced.
///
/// Reads and writes are local: they work offline and never wait for the network.
///
/// ```swift
/// let todos = engine.collection(Namespace("app", "todos"), of: Todo.self)
/// try await todos.insertOne(Todo(_id: 1, task: "Buy milk"))
/// try await todos.updateOne(["_id": 1], ["$set": ["done": true]])
/// let open = try todos.find(["done": false]).fetch()
/// ```
///
/// This file has the choice of the synced documents. Writes are in `SyncCollection+Documents.swift`,
/// reads in `SyncCollection+Reading.swift`, subscriptions in `+Subscribing.swift`, handlers and listeners in `+Listening.swift`.
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
    /// Begins the sync of documents with the next pass.
    ///
    /// An id that is synced already stays synced. An id that the remote does not hold waits until the
    /// document appears. When the remote deletes the document later, the sync of the id ends.
    ///
    /// - Throws: `StoreError` of code `badValue` for an array, a regular expression or undefined:
    ///   no document can have such an `_id`.
    public func sync(ids: some Sequence<BSONValue>) async throws {
        let ids = Array(ids)
        for id in ids { try checkIsPossible(documentID: id) }
        let limit = engine.limits.batchDocuments
        try await write { transaction in
            try RequestedIDs(sync: transaction).add(ids, batchSize: limit)
        }
        engine.wake()
    }

    private func checkIsPossible(documentID id: BSONValue) throws(StoreError) {
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
    /// pending changes. For an id whose document has not appeared yet, the wait ends. The remote's
    /// documents do not change.
    public func desync(ids: some Sequence<BSONValue>) async throws {
        let ids = Array(ids)
        try await write { transaction in
            let documents = DeviceDocuments(sync: transaction)
            for id in ids {
                // Every synced id has a record here, even one that waits for its document.
                guard let record = try transaction.record(id) else { continue }
                let local = try transaction.local(id)
                if let local, try transaction.membership.mayStay(local) {
                    // From now on only a subscription (a query) keeps it on the device.
                    try transaction.records.setReason(of: record, to: .query)
                } else {
                    try documents.endSync(of: record, local: local)
                }
            }
            // A subscription that ended keeps its documents; these may have been the last ones.
            try documents.endSubscribedStateIfUnused()
        }
    }

    /// The ids of all synced documents, and those that wait for their documents.
    public var syncedIDs: [BSONValue] {
        get async throws { try documentIDs(.all) }
    }

    /// The ids of documents with an unconfirmed local change, including paused ones.
    public var pendingIDs: [BSONValue] {
        get async throws { try documentIDs(.pending) }
    }

    /// The ids of paused documents.
    ///
    /// Documents that the remote lost without evidence of a delete are paused, too, but listed by
    /// ``unexplainedIDs``.
    public var pausedIDs: [BSONValue] {
        get async throws { try documentIDs(.paused) }
    }

    /// The ids of documents whose version field at the remote has a form that the engine does not
    /// recognise.
    ///
    /// The engine downloads their content. Local changes stay pending until another client writes a
    /// valid version or removes the field.
    public var foreignVersionIDs: [BSONValue] {
        get async throws {
            try read(orIfNeverSynced: []) { snapshot in
                try snapshot.records.foreignVersionIDs(in: snapshot.collection.rowID)
            }
        }
    }

    /// Resumes the sync of a paused document; the next pass first fetches the remote's version.
    ///
    /// - Returns: `false` if the document is not synced; `true` even if it was not paused.
    @discardableResult
    public func resumeSync(of id: BSONValue) async throws -> Bool {
        let (isSynced, wasPaused) = try await write { transaction in
            guard var record = try transaction.record(id) else { return (false, false) }
            guard record.pause != nil else { return (true, false) }
            try transaction.endPauseAndRefetch(of: &record)
            try transaction.save(record)
            return (true, true)
        }
        if wasPaused { engine.wake() }
        return isSynced
    }
}

// MARK: - What the other files of the type use

extension SyncCollection {
    /// Runs a transaction of the app over the collection, which it registers at the first write.
    ///
    /// Before the body, each synced id gets a record, also one whose document has not appeared yet.
    func write<R: Sendable>(
        _ body: @escaping @Sendable (SyncTransaction) throws -> R
    ) async throws -> R {
        try await engine.writeForApp(namespace, body)
    }

    /// Reads the collection's sync state.
    ///
    /// - Parameter empty: the result for a collection that was never written or synced.
    func read<R>(orIfNeverSynced empty: R, _ body: (SyncSnapshot) throws -> R) throws -> R {
        try engine.store.read { transaction in
            let stored = SyncCollectionTable(connection: transaction.connection)
            guard let collection = try stored.existing(namespace) else { return empty }
            return try body(SyncSnapshot(transaction: transaction, collection: collection))
        }
    }

    /// Returns the ids of selected documents.
    func documentIDs(_ selection: RecordSelection) throws -> [BSONValue] {
        try read(orIfNeverSynced: []) { snapshot in
            try snapshot.records.documentIDs(selection, in: snapshot.collection.rowID)
        }
    }
}
