/// Spaces tries after failures: exponential with a cap and full jitter (liveness rule L3).
public struct Backoff: Sendable, Hashable {
    /// The longest wait after the first failure.
    public var initial: Duration
    /// The longest wait at all.
    public var cap: Duration

    /// Sets the bounds; one second and five minutes unless told.
    public init(initial: Duration = .seconds(1), cap: Duration = .seconds(300)) {
        self.initial = initial
        self.cap = cap
    }

    /// The wait after so many failures in a row, 1 or more.
    ///
    /// - Parameter jitter: from 0 up to 1; the wait is between half of the bound and the bound.
    public func delay(afterFailures failures: Int, jitter: Double) -> Duration {
        let doublings = min(max(failures, 1) - 1, 30)
        let bound = min(initial * (1 << doublings), cap)
        return bound * (0.5 + 0.5 * min(max(jitter, 0), 1))
    }
}
