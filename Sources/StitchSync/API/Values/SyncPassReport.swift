internal import BSONStore

/// The counts and errors of a pass.
///
/// ```swift
/// let report = try await engine.syncNow()
/// print("\(report.taken) downloaded, \(report.uploaded) uploaded, \(report.errors)")
/// ```
public struct SyncPassReport: Sendable, Hashable, CustomStringConvertible {
    /// Documents that the pass fetched.
    public var looked = 0
    /// Remote editions that were stored locally.
    public var taken = 0
    /// Local documents removed because the remote deleted them.
    public var removed = 0
    /// Local documents evicted because no subscription matches them any more.
    public var evicted = 0
    /// Local changes that the remote applied.
    public var uploaded = 0
    /// Conflicts that a handler resolved.
    public var conflicts = 0
    /// Documents that the pass paused.
    public var paused = 0
    /// Documents found missing at the remote without evidence of a delete; the store keeps them.
    public var unexplained = 0
    /// Local changes that the remote refused and the engine reverted.
    public var reverted = 0
    /// Refused writes that the app decided about.
    public var answered = 0
    /// Documents that another client changed first; the next pass continues with them.
    public var overtaken = 0
    /// Subscription sets that the remote answered.
    public var subscriptionSets = 0
    /// Requests sent to the remote.
    public var requests = 0
    /// The codes of all errors, in order.
    public var errors: [SyncError.Code] = []

    /// The collections that the user has no privilege to read.
    var unreadable: Set<Namespace> = []

    /// Whether the pass reached the remote for every collection.
    ///
    /// A pass during which the app called ``SyncEngine/setOnline(_:)`` with `false` or
    /// ``SyncEngine/suspend()`` did not, and has the error `.offline`.
    public var reachedRemote: Bool {
        ![.remoteUnavailable, .authRequired, .notAuthorized, .offline]
            .contains(where: errors.contains)
    }

    /// Whether the pass reached the remote for every collection that the user may read.
    var reachedReadable: Bool {
        ![.remoteUnavailable, .authRequired, .offline].contains(where: errors.contains)
    }

    /// Whether a collection stopped because its remote changed or was dropped.
    public var hasStopped: Bool {
        errors.contains(.remoteChanged) || errors.contains(.collectionDropped)
    }

    /// The counts that are not 0, then the errors: `3 taken, 1 uploaded, 2 requests`.
    public var description: String {
        let counts = [
            (looked, "fetched"), (taken, "taken"), (removed, "removed"), (evicted, "evicted"),
            (uploaded, "uploaded"), (conflicts, "conflicts"), (paused, "paused"),
            (unexplained, "unexplained"), (reverted, "reverted"), (answered, "answered"),
            (overtaken, "overtaken"), (subscriptionSets, "subscription sets"),
            (requests, "requests"),
        ]
        let shown = counts.filter { $0.0 != 0 }.map { "\($0.0) \($0.1)" }
        let failed =
            errors.isEmpty ? [] : ["errors: \(errors.map(\.rawValue).joined(separator: ", "))"]
        return shown.isEmpty && failed.isEmpty
            ? "nothing to do" : (shown + failed).joined(separator: ", ")
    }

    /// Makes an empty report.
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
        unreadable.formUnion(other.unreadable)
    }
}
