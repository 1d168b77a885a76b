internal import BSONStore

/// The runs of a command since the last one that came further.
struct IdleRuns {
    /// The number, and the time, after both of which others are said to write too often.
    private static let countMax = 20
    private static let timeMax: Duration = .seconds(5)
    /// The time after which even few runs were too many.
    private static let slowTimeMax: Duration = .seconds(60)

    private var last: [Int]?
    private var count = 0
    private var start = ContinuousClock.now

    /// Counts a run that begins, after a sleep if the last run made no progress.
    ///
    /// Many clients that write one document would otherwise disturb each other again.
    ///
    /// - Throws: 112 (WriteConflict) after too many.
    mutating func begin(at progress: [Int]) throws(CommandFailure) {
        guard progress == last else {
            (last, count, start) = (progress, 0, .now)
            return
        }
        count += 1
        let time = .now - start
        guard time < Self.timeMax || count < Self.countMax && time < Self.slowTimeMax else {
            throw GatewayWrite.conflict
        }
        ThreadPause.wait(milliseconds: .random(in: 0...(1 << min(count - 1, 6))))
    }
}
