import BSONStore
import StitchSync

/// Passes of about the same time, as one row of a list.
struct PassGroup: Sendable {
    /// The passes, the oldest first.
    let passes: [JournaledPass]

    /// The number of the newest passes that have a row each.
    static let singleMax = 10
    /// The number of the newest rows that an overview shows.
    static let latestMax = 5
    /// The number of rows of hours, above which older passes share rows of days.
    private static let hoursMax = 20
    private static let (hour, day): (Int64, Int64) = (3_600_000, 86_400_000)

    /// Returns the rows of passes, which are given the oldest first; the newest row is the first.
    static func groups(of passes: [JournaledPass]) -> [PassGroup] {
        let single = passes.suffix(singleMax).reversed().map { PassGroup(passes: [$0]) }
        let older = Array(passes.dropLast(singleMax))
        let hours = summed(older, by: hour)
        return single + (hours.count <= hoursMax ? hours : summed(older, by: day))
    }

    private static func summed(_ passes: [JournaledPass], by length: Int64) -> [PassGroup] {
        Dictionary(grouping: passes) { $0.time.milliseconds / length }
            .sorted { $0.key > $1.key }.map { PassGroup(passes: $0.value) }
    }

    /// The sum of a lane's counts.
    func count(_ lane: Timeline.Lane) -> Int {
        passes.reduce(0) { $0 + lane.count($1.report) }
    }

    /// The time of the pass, or the first and the last time.
    var timeText: String {
        let times = passes.map(\.time)
        guard let first = times.min(), let last = times.max() else { return "" }
        return first == last ? first.text : "\(first.text) to \(last.text)"
    }

    /// The row as one JSON object.
    var object: BSONDocument {
        let times = passes.map(\.time.milliseconds)
        let counts = Timeline.lanes.map { lane in
            BSONValue.document(["name": .string(lane.name), "count": .int64(Int64(count(lane)))])
        }
        return [
            "first": .int64(times.min() ?? 0), "last": .int64(times.max() ?? 0),
            "passes": .int64(Int64(passes.count)), "counts": .array(BSONArray(counts)),
            "errors": .array(
                BSONArray(
                    Set(passes.flatMap { $0.report.errors.map(\.rawValue) }).sorted()
                        .map { .string($0) })),
        ]
    }
}
