public import BSONStore

extension SyncCollection {
    /// Returns the number of documents in each state.
    public func status() async throws -> SyncStatus {
        try read { sync in
            func count(_ selection: SyncRecordTable.Selection) throws -> Int {
                try sync.records.count(selection, in: sync.collection.rowID)
            }
            let unexplained = try count(.unexplained)
            return SyncStatus(
                synced: try count(.all), pending: try count(.pending),
                paused: try count(.paused), toLook: try count(.toLook),
                rejected: try sync.records.rejectionCount(in: sync.collection.rowID),
                unexplained: unexplained, stop: sync.collection.stop)
        } ?? SyncStatus()
    }

    /// Returns the sync state of one document.
    public func status(of id: BSONValue) async throws -> DocumentSyncStatus {
        try read { sync in try sync.record(id) }?.status ?? .notSynced
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

extension SyncEngine {
    /// Returns the counts of finished and pending transfers.
    public func progress() async throws -> SyncProgress {
        let (carried, totals) = transfers.current
        var progress = carried
        var downloads = 0
        try store.read { transaction in
            let records = SyncRecordTable(connection: transaction.connection)
            for collection in try SyncStateTable(connection: transaction.connection).collections() {
                progress.pendingUploads += try records.count(.unsent, in: collection.rowID)
                progress.pendingDownloads += try records.count(.toLook, in: collection.rowID)
                downloads += try records.downloadCount(in: collection.rowID)
            }
        }
        progress.pendingDownloads += totals.comingCount
        progress.totalUploads = progress.uploadedDocuments + progress.pendingUploads
        progress.totalDownloads =
            progress.downloadedDocuments + totals.comingCount
            + max(0, downloads - totals.waiting.count)
        return transfers.raised(progress)
    }

    /// The progress now and after each change, for `for try await`.
    public var progressUpdates: SyncUpdates<SyncProgress> {
        SyncUpdates(engine: self) { try await self.progress() }
    }
}
