public import BSONStore

extension SyncCollection {
    /// Returns the number of documents in each state.
    public func status() async throws -> SyncStatus {
        try read(orIfNeverSynced: SyncStatus()) { sync in
            func count(_ selection: RecordSelection) throws -> Int {
                try sync.records.count(selection, in: sync.collection.rowID)
            }
            let unexplained = try count(.unexplained)
            return SyncStatus(
                synced: try count(.all), pending: try count(.pending),
                paused: try count(.paused), toLook: try count(.toFetch),
                rejected: try sync.rejectedWrites.revertedCount(in: sync.collection.rowID),
                unexplained: unexplained, stop: sync.collection.stop)
        }
    }

    /// Returns the sync state of one document.
    public func status(of id: BSONValue) async throws -> DocumentSyncStatus {
        try read(orIfNeverSynced: nil) { sync in try sync.record(id)?.status } ?? .notSynced
    }

    /// The collection's counts now and after each change, for `for try await`.
    ///
    /// A slow reader receives the latest counts only.
    public var statusUpdates: SyncUpdates<SyncStatus> {
        SyncUpdates(engine: engine) { try await status() }
    }

    /// Returns the sync state of one document now and after each change, for `for try await`.
    public func statusUpdates(of id: BSONValue) -> SyncUpdates<DocumentSyncStatus> {
        SyncUpdates(engine: engine) { try await status(of: id) }
    }
}

// MARK: - Waiting

extension SyncCollection {
    /// Runs a pass over this collection only.
    ///
    /// - Throws: as ``SyncEngine/syncNow()`` does.
    @discardableResult
    public func syncNow() async throws -> SyncPassReport {
        try await engine.syncNow(only: [namespace])
    }

    /// Waits as ``SyncEngine/waitForUpload(timeout:)`` does, for this collection only.
    public func waitForUpload(timeout: Duration? = nil) async throws {
        try await engine.wait(for: [.unsent], in: namespace, timeout)
    }

    /// Waits as ``SyncEngine/waitForDownload(timeout:)`` does, for this collection only.
    public func waitForDownload(timeout: Duration? = nil) async throws {
        try await engine.wait(for: [.toFetch], in: namespace, timeout)
    }

    /// Waits as ``SyncEngine/waitForSynchronization(timeout:)`` does, for this collection only.
    public func waitForSynchronization(timeout: Duration? = nil) async throws {
        try await engine.wait(for: [.unsent, .toFetch], in: namespace, timeout)
    }
}
