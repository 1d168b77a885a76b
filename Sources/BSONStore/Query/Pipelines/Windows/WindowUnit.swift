/// A unit of time for windows and ranges of dates.
struct WindowUnit: Sendable {
    private let unit: ExpressionDateUnit

    /// Parses a unit's name.
    ///
    /// - Throws: `failedToParse` for an unknown name.
    init(named name: String) throws(StoreError) {
        guard let unit = ExpressionDateUnit(rawValue: name) else {
            throw StoreError(.failedToParse, "unknown time unit value: \(name)")
        }
        self.unit = unit
    }

    /// The number of milliseconds in a unit; `nil` if it depends on the calendar.
    var milliseconds: Int64? {
        switch unit {
        case .year, .quarter, .month: nil
        case .week: 604_800_000
        case .day: 86_400_000
        case .hour, .minute, .second, .millisecond: unit.milliseconds
        }
    }

    /// Returns a date a number of units later, `nil` if out of range; the day is clamped to the
    /// month's last one.
    func adding(_ count: Int64, to date: BSONDatetime) -> BSONDatetime? {
        do throws(StoreError) {
            return try ExpressionDate.add(date, unit, count, .utc)
        } catch {
            return nil
        }
    }
}
