import Foundation

/// A road's times and what they say.
struct SweepRow {
    /// What a row ends as.
    enum Verdict: Equatable {
        case pass
        /// The exponent is too great, and a reason says why it may be.
        case excused
        /// A reason is given, but the road does not need it.
        case stale
        case miss
        /// The road ended with an error.
        case broken(String)
    }

    /// The greatest exponent, that of n log n with room for caches.
    static let exponentMax = 1.25
    /// The greatest exponent of a road that needs no reason at all.
    private static let exponentPlain = 1.1
    /// An exponent that no disturbance makes: it is not measured again.
    private static let exponentCertain = 1.6
    /// A size that needs longer is the last one, in nanoseconds.
    private static let longestNS = 4e9
    /// How often a row that misses is measured again, each time at greater sizes.
    private static let retries = 2

    let road: Road
    /// The sizes and the processor time of each in nanoseconds.
    private(set) var times: [(size: Int, ns: Double)] = []
    private var failure: String?

    /// Measures a road; a row that misses is measured again at greater sizes before it counts.
    ///
    /// - Parameter servers: the processes whose time belongs to the road.
    static func measure(
        _ road: Road, _ effort: SweepEffort, _ servers: @escaping () -> [pid_t]
    ) async -> SweepRow {
        var (effort, row) = (effort, SweepRow(road: road))
        for attempt in 0...retries {
            do {
                row = SweepRow(road: road)
                try await row.measure(effort, servers)
            } catch {
                row.failure = "\(error)"
                break
            }
            let isDoubtful =
                row.exponent > effort.exponentMax
                && (effort.factors.count < 4 || row.exponent < exponentCertain)
            guard isDoubtful, road.reason == nil, attempt < retries else { break }
            // It cannot be told by more: the largest size needs seconds.
            let isLong = (row.times.last?.ns ?? 0) > longestNS / 4
            guard effort.factors.count < 4 || !isLong else { break }
            effort = effort.next
        }
        return row
    }

    private init(road: Road) { self.road = road }

    /// The exponent of the processor time over the last three sizes, by least squares.
    var exponent: Double {
        let points = times.suffix(3).map { (log2(Double($0.size)), log2($0.ns)) }
        let count = Double(points.count)
        let (x, y) = (
            points.reduce(0) { $0 + $1.0 } / count, points.reduce(0) { $0 + $1.1 } / count
        )
        let spread = points.reduce(0) { $0 + ($1.0 - x) * ($1.0 - x) }
        return points.reduce(0) { $0 + ($1.0 - x) * ($1.1 - y) } / max(spread, 0.01)
    }

    /// What the row ends as.
    var verdict: Verdict {
        if let failure { return .broken(failure) }
        guard road.reason != nil else {
            // One size tells nothing: a road that needs seconds for the first is too slow.
            return times.count > 1 && exponent <= Self.exponentMax ? .pass : .miss
        }
        // Two small sizes do not tell that a reason is needed no more.
        return times.count > 2 && exponent <= Self.exponentPlain ? .stale : .excused
    }

    private mutating func measure(
        _ effort: SweepEffort, _ servers: @escaping () -> [pid_t]
    ) async throws {
        let meter = RoadMeter(road: road, servers: servers)
        var size = road.from
        while size * 16 <= road.upTo {
            let ns = try await meter.time(at: size, leastNS: 0, rounds: 1)
            guard ns < effort.firstNS else { break }
            size *= ns < effort.firstNS / 16 && size * 64 <= road.upTo ? 4 : 2
        }
        for factor in effort.factors {
            let ns = try await meter.time(
                at: size * factor, leastNS: effort.leastNS, rounds: effort.rounds)
            times.append((size * factor, ns))
            if ns > Self.longestNS { break }
        }
    }
}
