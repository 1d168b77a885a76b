internal import BSONStore

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
