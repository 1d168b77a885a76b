/// Measures windows and ranges of dates in units of time.
struct WindowUnit: Sendable {
    private let unit: ExpressionDateUnit

    /// Reads a unit's name.
    ///
    /// - Throws: `failedToParse` for an unknown one.
    init(named name: String) throws(StoreError) {
        guard let unit = ExpressionDateUnit(rawValue: name) else {
            throw StoreError(.failedToParse, "unknown time unit value: \(name)")
        }
        self.unit = unit
    }

    /// How many milliseconds a unit has; `nil` where that depends on the calendar.
    var milliseconds: Int64? {
        switch unit {
        case .year, .quarter, .month: nil
        case .week: 604_800_000
        case .day: 86_400_000
        case .hour, .minute, .second, .millisecond: unit.milliseconds
        }
    }

    /// A date so many units later, `nil` when there is none; the last day of a month is the latest.
    func adding(_ count: Int64, to date: BSONDatetime) -> BSONDatetime? {
        do throws(StoreError) {
            return try ExpressionDate.add(date, unit, count, .utc)
        } catch {
            return nil
        }
    }
}
