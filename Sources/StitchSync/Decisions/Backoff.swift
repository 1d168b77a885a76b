/// The pauses after failures: exponential with a cap and jitter.
///
/// They end at once when the network returns, the user signs in or the app writes.
///
/// ```swift
/// let backoff = Backoff(initial: .seconds(2), cap: .seconds(60))
/// let engine = try SyncEngine(store: store, remote: remote, backoff: backoff)
/// ```
public struct Backoff: Sendable, Hashable {
    /// The longest pause after the first failure.
    public var initial: Duration
    /// The longest pause after any number of failures.
    public var cap: Duration

    /// Makes a backoff with two bounds; by default one second and five minutes.
    public init(initial: Duration = .seconds(1), cap: Duration = .seconds(300)) {
        self.initial = initial
        self.cap = cap
    }

    /// Returns the pause after a number of failures in a row, 1 or more.
    ///
    /// - Parameter jitter: from 0 up to 1; the pause is between half of the bound and the bound.
    public func delay(afterFailures failures: Int, jitter: Double) -> Duration {
        let doublings = min(max(failures, 1) - 1, 30)
        let bound = min(initial * (1 << doublings), cap)
        return bound * (0.5 + 0.5 * min(max(jitter, 0), 1))
    }
}
