/// Is a unit of time in which windows and ranges of dates are measured.
enum WindowUnit: String, Sendable {
    case year
    case quarter
    case month
    case week
    case day
    case hour
    case minute
    case second
    case millisecond

    /// Reads a unit's name.
    ///
    /// - Throws: `failedToParse` for an unknown one.
    init(named name: String) throws(StoreError) {
        guard let unit = WindowUnit(rawValue: name) else {
            throw StoreError(.failedToParse, "unknown time unit value: \(name)")
        }
        self = unit
    }

    /// How many milliseconds a unit has; `nil` where that depends on the calendar.
    var milliseconds: Int64? {
        switch self {
        case .year, .quarter, .month: nil
        case .week: 604_800_000
        case .day: 86_400_000
        case .hour: 3_600_000
        case .minute: 60_000
        case .second: 1_000
        case .millisecond: 1
        }
    }

    private var months: Int64 {
        switch self {
        case .year: 12
        case .quarter: 3
        case .month: 1
        case .week, .day, .hour, .minute, .second, .millisecond: 0
        }
    }

    /// A date so many units later, `nil` when there is none; the last day of a month is the latest.
    func adding(_ count: Int64, to date: BSONDatetime) -> BSONDatetime? {
        if let milliseconds {
            let (distance, isLarge) = milliseconds.multipliedReportingOverflow(by: count)
            let (sum, overflow) = date.milliseconds.addingReportingOverflow(distance)
            return isLarge || overflow ? nil : BSONDatetime(milliseconds: sum)
        }
        let (distance, overflow) = months.multipliedReportingOverflow(by: count)
        guard !overflow, distance.magnitude < 12_000_000_000 else { return nil }
        let dayLength: Int64 = 86_400_000
        let days = Self.quotient(date.milliseconds, dayLength)
        let time = date.milliseconds - days * dayLength
        var (year, month, day) = Self.civil(days)
        month += distance
        year += Self.quotient(month - 1, 12)
        month -= Self.quotient(month - 1, 12) * 12
        day = min(day, Self.length(of: month, year))
        let (start, isLarge) = Self.days(year, month, day)
            .multipliedReportingOverflow(by: dayLength)
        let (sum, isLarger) = start.addingReportingOverflow(time)
        return isLarge || isLarger ? nil : BSONDatetime(milliseconds: sum)
    }

    private static func quotient(_ value: Int64, _ divisor: Int64) -> Int64 {
        value >= 0 ? value / divisor : -((divisor - 1 - value) / divisor)
    }

    private static func length(of month: Int64, _ year: Int64) -> Int64 {
        let next = month == 12 ? days(year + 1, 1, 1) : days(year, month + 1, 1)
        return next - days(year, month, 1)
    }

    /// Days since 1970 of a date in the Gregorian calendar.
    ///
    /// Source: H. Hinnant, "chrono-Compatible Low-Level Date Algorithms".
    private static func days(_ year: Int64, _ month: Int64, _ day: Int64) -> Int64 {
        let shifted = month <= 2 ? year - 1 : year
        let era = quotient(shifted, 400)
        let yearOfEra = shifted - era * 400
        let dayOfYear = (153 * (month + (month > 2 ? -3 : 9)) + 2) / 5 + day - 1
        let dayOfEra = yearOfEra * 365 + yearOfEra / 4 - yearOfEra / 100 + dayOfYear
        return era * 146_097 + dayOfEra - 719_468
    }

    /// The date in the Gregorian calendar of a number of days since 1970.
    private static func civil(_ days: Int64) -> (year: Int64, month: Int64, day: Int64) {
        let shifted = days + 719_468
        let era = quotient(shifted, 146_097)
        let dayOfEra = shifted - era * 146_097
        let yearOfEra =
            (dayOfEra - dayOfEra / 1_460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
        let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
        let shiftedMonth = (5 * dayOfYear + 2) / 153
        let day = dayOfYear - (153 * shiftedMonth + 2) / 5 + 1
        let month = shiftedMonth + (shiftedMonth < 10 ? 3 : -9)
        return (yearOfEra + era * 400 + (month <= 2 ? 1 : 0), month, day)
    }
}
