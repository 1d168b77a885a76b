internal import BSONStore

/// The runs of a command since the last one that came further.
struct IdleRuns {
    /// The number, and the time, after both of which others are said to write too often.
    private static let countMax = 20
    private static let timeMax: Duration = .seconds(5)
    /// The time after which even few runs were too many.
    private static let slowTimeMax: Duration = .seconds(60)

    /// The longest pause before a run after one that met a lock, in milliseconds.
    private static let heldPauseMax = 20

    private var last: [Int]?
    private var count = 0
    private var start = ContinuousClock.now

    /// Counts a run that begins, after a sleep if the last run made no progress.
    ///
    /// Many clients that write one document would otherwise disturb each other again. A run that met the
    /// lock of another client's transaction found no change, so only its time counts.
    ///
    /// - Parameter isHeldUp: whether the last run met such a lock.
    /// - Throws: 112 (WriteConflict) after too many.
    mutating func begin(at progress: [Int], isHeldUp: Bool = false) throws(CommandFailure) {
        guard progress == last else {
            (last, count, start) = (progress, 0, .now)
            return
        }
        let time = .now - start
        guard !isHeldUp else {
            guard time < Self.slowTimeMax else { throw GatewayWrite.held }
            return ThreadPause.wait(milliseconds: .random(in: 0...Self.heldPauseMax))
        }
        count += 1
        guard time < Self.timeMax || count < Self.countMax && time < Self.slowTimeMax else {
            throw GatewayWrite.conflict
        }
        ThreadPause.wait(milliseconds: .random(in: 0...(1 << min(count - 1, 6))))
    }
}
