internal import BSONStore

/// A time measurement by any clock.
struct Stopwatch {
    private let measure: () -> Duration

    /// Starts the measurement.
    init(_ clock: any Clock<Duration>) { measure = Self.starting(clock) }

    /// The time since the start.
    var elapsed: Duration { measure() }

    private static func starting<C: Clock<Duration>>(_ clock: C) -> () -> Duration {
        let start = clock.now
        return { start.duration(to: clock.now) }
    }
}
