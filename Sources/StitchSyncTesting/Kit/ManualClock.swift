internal import BSONStore

/// A clock that stands still until a test advances it.
///
/// ```swift
/// let world = try TestWorld()
/// world.clock.advance(by: .seconds(60))
/// ```
public final class ManualClock: Clock, Sendable {
    /// A time on the clock.
    ///
    /// ```swift
    /// let deadline = world.clock.now.advanced(by: .seconds(30))
    /// print(world.clock.now.duration(to: deadline))  // 30.0 seconds
    /// ```
    public struct Instant: InstantProtocol {
        /// The time since the creation of the clock.
        public var offset: Duration

        /// Returns the time after a duration.
        public func advanced(by duration: Duration) -> Instant {
            Instant(offset: offset + duration)
        }

        /// Returns the duration from this time to another.
        public func duration(to other: Instant) -> Duration { other.offset - offset }

        /// Whether one time is before another.
        public static func < (left: Instant, right: Instant) -> Bool { left.offset < right.offset }
    }

    private struct State {
        var now = Instant(offset: .zero)
        var sleepers: [Int: (until: Instant, continuation: CheckedContinuation<Void, any Error>)] =
            [:]
        var nextID = 0
        var longestSleep = Duration.zero
    }

    private let state = Locked(State())

    /// Makes a clock at time zero.
    public init() {}

    /// The current time of the clock.
    public var now: Instant { state.withLock { $0.now } }

    /// The smallest step of the clock.
    public var minimumResolution: Duration { .nanoseconds(1) }

    /// The longest requested sleep so far.
    package var longestSleep: Duration { state.withLock { $0.longestSleep } }

    /// Advances the clock and wakes the tasks whose deadline has passed.
    public func advance(by duration: Duration) {
        let woken = state.withLock { state in
            state.now = state.now.advanced(by: duration)
            let due = state.sleepers.filter { $0.value.until <= state.now }
            for id in due.keys { state.sleepers[id] = nil }
            return due.values.map(\.continuation)
        }
        for continuation in woken { continuation.resume() }
    }

    /// Waits until a test advances the clock to a deadline.
    ///
    /// - Throws: `CancellationError`.
    public func sleep(until deadline: Instant, tolerance: Duration?) async throws {
        let id = state.withLock { state in
            state.nextID += 1
            state.longestSleep = max(state.longestSleep, state.now.duration(to: deadline))
            return state.nextID
        }
        try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                let isOver = state.withLock { state -> Bool in
                    if deadline <= state.now || Task.isCancelled { return true }
                    state.sleepers[id] = (deadline, continuation)
                    return false
                }
                guard isOver else { return }
                if Task.isCancelled {
                    continuation.resume(throwing: CancellationError())
                } else {
                    continuation.resume()
                }
            }
        } onCancel: {
            let sleeper = state.withLock { $0.sleepers.removeValue(forKey: id) }
            sleeper?.continuation.resume(throwing: CancellationError())
        }
    }
}
