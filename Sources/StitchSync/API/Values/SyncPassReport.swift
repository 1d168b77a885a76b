internal import BSONStore

/// Counts what a pass did.
public struct SyncPassReport: Sendable, Hashable {
    /// Documents whose remote edition was looked at.
    public var looked = 0
    /// Documents taken from the remote.
    public var taken = 0
    /// Local documents removed since the remote deleted them.
    public var removed = 0
    /// Local documents that left the device since no subscription asks for them any more.
    public var evicted = 0
    /// Local changes that the remote took in.
    public var uploaded = 0
    /// Conflicts that a handler answered.
    public var conflicts = 0
    /// Documents paused.
    public var paused = 0
    /// Documents that were found missing at the remote without evidence of a delete; they are kept.
    public var unexplained = 0
    /// Local changes that the remote refused and that were taken back.
    public var reverted = 0
    /// Refused writes that the app was asked about.
    public var answered = 0
    /// Documents that somebody else was at first; the next pass goes on with them.
    public var overtaken = 0
    /// Sets of subscriptions that the remote answered.
    public var subscriptionSets = 0
    /// Requests to the remote.
    public var requests = 0
    /// Errors, in the order in which they came.
    public var errors: [SyncError.Code] = []

    /// Whether no collection failed on the way to the remote.
    public var reachedRemote: Bool {
        !errors.contains(.remoteUnavailable) && !errors.contains(.authRequired)
    }

    /// Whether a collection is stopped, since its remote is another one or was dropped.
    public var hasStopped: Bool {
        errors.contains(.remoteChanged) || errors.contains(.collectionDropped)
    }

    /// Makes a report of nothing.
    public init() {}

    /// Adds another report's counts.
    public mutating func add(_ other: SyncPassReport) {
        looked += other.looked
        taken += other.taken
        removed += other.removed
        evicted += other.evicted
        subscriptionSets += other.subscriptionSets
        uploaded += other.uploaded
        conflicts += other.conflicts
        paused += other.paused
        unexplained += other.unexplained
        reverted += other.reverted
        answered += other.answered
        overtaken += other.overtaken
        requests += other.requests
        errors += other.errors
    }
}
