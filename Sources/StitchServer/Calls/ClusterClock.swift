internal import BSONStore

/// The logical clock of operations: seconds, and a count within the second.
final class ClusterClock: Sendable {
    private let last = Locked(BSONTimestamp(seconds: 0, increment: 0))

    /// Starts at the system's time.
    init() { _ = advance() }

    /// The time of the last operation.
    var now: BSONTimestamp { last.withLock { $0 } }

    /// Makes the clock only follow another one from now on: clients begin change streams at its
    /// times, so it must not run ahead.
    func restart() { last.withLock { $0 = BSONTimestamp(seconds: 0, increment: 0) } }

    /// Moves the clock forward to a time, if that is later.
    func follow(_ time: BSONTimestamp) {
        last.withLock { if $0 < time { $0 = time } }
    }

    /// Returns the time for a new operation, later than all before.
    func advance() -> BSONTimestamp {
        let seconds = UInt32(truncatingIfNeeded: BSONDatetime.now.milliseconds / 1_000)
        return last.withLock { last in
            if seconds > last.seconds {
                last = BSONTimestamp(seconds: seconds, increment: 1)
            } else {
                last = BSONTimestamp(seconds: last.seconds, increment: last.increment &+ 1)
            }
            return last
        }
    }
}
