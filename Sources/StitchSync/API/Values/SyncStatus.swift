internal import BSONStore

/// The numbers of a collection's documents by state.
///
/// ```swift
/// let status = try await todos.status()
/// print("\(status.pending) to upload, \(status.paused) paused")
/// ```
public struct SyncStatus: Sendable, Hashable, CustomStringConvertible {
    /// Synced documents, in any state.
    public var synced = 0
    /// Documents with an unconfirmed local change.
    public var pending = 0
    /// Documents that are not synced until the app resumes or writes them.
    public var paused = 0
    /// Documents that the next pass fetches.
    public var toLook = 0
    /// Rejected writes that the app has not retried or discarded, see
    /// ``SyncCollection/rejectedWrites``.
    public var rejected = 0
    /// Documents that are missing at the remote without evidence of a delete; they are not
    /// uploaded.
    ///
    /// ``SyncCollection/resolveUnexplained(_:)`` decides about them. ``paused`` does not count
    /// them.
    public var unexplained = 0
    /// The reason why the collection's sync stopped; `nil` while it runs.
    public var stop: SyncStop?

    /// Makes a status; each number is zero by default.
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

    /// The numbers that are not 0, and the stop: `12 synced, 2 pending, 1 paused`.
    public var description: String {
        let counts = [
            (pending, "pending"), (paused, "paused"), (toLook, "to fetch"), (rejected, "rejected"),
            (unexplained, "unexplained"),
        ]
        let shown = counts.filter { $0.0 != 0 }.map { ", \($0.0) \($0.1)" }.joined()
        return "\(synced) synced\(shown)" + (stop.map { "; stopped: \($0)" } ?? "")
    }
}
