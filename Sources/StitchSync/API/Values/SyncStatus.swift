public import BSONStore

/// Counts a collection's documents by their state.
public struct SyncStatus: Sendable, Hashable {
    /// Documents that are kept in step.
    public var synced = 0
    /// Documents with a change that the remote has not confirmed.
    public var pending = 0
    /// Documents that neither direction touches until they are resumed or written to.
    public var paused = 0
    /// Documents whose remote edition is to be looked at by the next pass.
    public var toLook = 0
    /// Local changes that the remote did not allow and that wait for the app to retry or discard
    /// them, see ``SyncCollection/rejectedWrites()``.
    public var rejected = 0
    /// Documents that are missing at the remote without evidence of a delete, and not sent.
    ///
    /// ``SyncCollection/resolveUnexplained(_:)`` answers for them. They are not among ``paused``.
    public var unexplained = 0
    /// Why the collection's sync stopped; `nil` while it runs.
    public var stop: SyncStop?

    /// Counts nothing unless told.
    public init(
        synced: Int = 0, pending: Int = 0, paused: Int = 0, toLook: Int = 0, rejected: Int = 0,
        unexplained: Int = 0, stop: SyncStop? = nil
    ) {
        self.unexplained = unexplained
        self.stop = stop
        self.rejected = rejected
        self.synced = synced
        self.pending = pending
        self.paused = paused
        self.toLook = toLook
    }
}

/// Says how one document stands between store and remote.
public enum DocumentSyncStatus: Sendable, Hashable {
    /// It is not kept in step.
    case notSynced
    /// As far as is known, both sides hold the same.
    case synced
    /// It has a change that the remote has not confirmed.
    case pending
    /// The remote edition has changed, or may have, and is to be looked at by the next pass.
    case stale
    /// Both: a change to send, and a remote edition to look at first. A conflict that waits for its
    /// handler is one.
    case conflicted
    /// Neither direction touches it; local writes and ``SyncCollection/resumeSync(of:)`` end this.
    case paused(PauseReason)
    /// It is missing at the remote, and nothing says that somebody deleted it: it is kept and not sent.
    case unexplained

    init(_ record: SyncRecord?) {
        guard let record else {
            self = .notSynced
            return
        }
        if record.isUnexplained {
            self = .unexplained
        } else if let pause = record.pause {
            self = .paused(pause)
        } else {
            switch (record.isPending, record.hint > 0) {
            case (false, false): self = .synced
            case (true, false): self = .pending
            case (false, true): self = .stale
            case (true, true): self = .conflicted
            }
        }
    }

    /// How the document stands in one word, as fixtures and the tool call it.
    package var name: String {
        switch self {
        case .notSynced: "notSynced"
        case .synced: "synced"
        case .pending: "pending"
        case .stale: "stale"
        case .conflicted: "conflicted"
        case .paused: "paused"
        case .unexplained: "unexplained"
        }
    }
}

/// Counts what an engine has carried since it was set up.
public struct SyncProgress: Sendable, Hashable {
    /// Changes that the remote took in.
    public var uploadedDocuments = 0
    /// Bytes of documents and paths in writes that were sent, taken in or not.
    public var uploadedBytes = 0
    /// Remote documents that were looked at; each once, also where it took more than one look.
    public var downloadedDocuments = 0
    /// Bytes of the remote documents that were looked at.
    public var downloadedBytes = 0
    /// Changes still to be sent, over all collections.
    public var pendingUploads = 0
    /// Remote documents still to be looked at, over all collections; those of subscriptions that are
    /// coming in count where the remote tells how many there are.
    public var pendingDownloads = 0
    /// What ``uploadedDocuments`` is once everything that waits now was sent.
    ///
    /// Known from the start of a pass; it grows when something is written meanwhile.
    public var totalUploads = 0
    /// What ``downloadedDocuments`` is once everything was looked at that is known to wait.
    ///
    /// Known from the start of a pass, for a set of subscriptions once its first query is asked; it grows
    /// when the remote tells of more.
    public var totalDownloads = 0

    /// Counts nothing.
    public init() {}
}

// MARK: - Asking

extension SyncCollection {
    /// How many documents are in which state.
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

    /// How one document stands.
    public func status(of id: BSONValue) async throws -> DocumentSyncStatus {
        DocumentSyncStatus(try read { sync in try sync.record(id) })
    }

    /// The collection's counts now and whenever they change, for `for await`.
    ///
    /// A slow reader gets the latest counts, not each one in between.
    public var statusUpdates: SyncUpdates<SyncStatus> {
        SyncUpdates(engine: engine) { try await status() }
    }

    /// How one document stands now and whenever that changes, for `for await`.
    public func statusUpdates(of id: BSONValue) -> SyncUpdates<DocumentSyncStatus> {
        SyncUpdates(engine: engine) { try await status(of: id) }
    }
}

extension SyncEngine {
    /// What was carried so far, and what is still to be carried.
    public func progress() async throws -> SyncProgress {
        let (carried, totals) = state.withLock { ($0.progress, $0.totals) }
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
        let counted = progress
        return state.withLock { $0.totals.raised(counted) }
    }

    /// The progress now and whenever it changes, for `for await`.
    public var progressUpdates: SyncUpdates<SyncProgress> {
        SyncUpdates(engine: self) { try await self.progress() }
    }
}
