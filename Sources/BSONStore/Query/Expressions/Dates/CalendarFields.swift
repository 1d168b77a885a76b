/// The parts of a local time in the proleptic Gregorian and the ISO calendar.
package struct CalendarFields {
    package let year: Int
    package let month: Int
    package let day: Int
    package let hour: Int
    package let minute: Int
    package let second: Int
    package let millisecond: Int
    /// The days from 1970-01-01 to this day.
    let days: Int

    /// Splits milliseconds since 1970 of a clock that shows the local time.
    package init(milliseconds: Int64) {
        let date = ExtendedJSONDate(milliseconds: milliseconds)
        year = date.year
        month = date.month
        day = date.day
        hour = date.hour
        minute = date.minute
        second = date.second
        millisecond = date.millisecond
        days = ExtendedJSONDate.days(date.year, date.month, date.day)
    }

    /// Splits a date as the zone's clocks show it.
    init(_ date: BSONDatetime, in zone: ExpressionTimeZone) {
        self.init(milliseconds: zone.local(date.milliseconds))
    }

    /// The weekday, from 1 for Sunday to 7 for Saturday.
    package var weekday: Int { Self.remainder(days + 4, 7) + 1 }
    /// The weekday, from 1 for Monday to 7 for Sunday.
    var isoWeekday: Int { Self.remainder(days + 3, 7) + 1 }
    /// The day of the year, from 1.
    var dayOfYear: Int { days - ExtendedJSONDate.days(year, 1, 1) + 1 }
    /// The week of the year: the number of Sundays up to this day.
    var week: Int { (dayOfYear - weekday + 7) / 7 }

    /// The year of the ISO week: that of its Thursday.
    var isoYear: Int {
        let thursday = days - isoWeekday + 4
        return Self.year(ofDay: thursday)
    }

    /// The ISO week, from 1 to 53.
    var isoWeek: Int {
        let thursday = days - isoWeekday + 4
        return (thursday - ExtendedJSONDate.days(isoYear, 1, 1)) / 7 + 1
    }

    /// Returns the days from 1970 to a day of an ISO week.
    static func days(isoYear: Int, week: Int, weekday: Int) -> Int {
        let fourth = ExtendedJSONDate.days(isoYear, 1, 4)
        let monday = fourth - remainder(fourth + 3, 7)
        return monday + (week - 1) * 7 + weekday - 1
    }

    /// Returns the year of a day counted from 1970; days beyond 64-bit milliseconds are clamped.
    static func year(ofDay day: Int) -> Int {
        let most = Int.max / 86_400_000 - 1
        return ExtendedJSONDate(milliseconds: Int64(max(-most, min(most, day)) * 86_400_000)).year
    }

    /// Returns the number of days in a month.
    static func length(ofMonth month: Int, _ year: Int) -> Int {
        let next = month == 12 ? (year + 1, 1) : (year, month + 1)
        return ExtendedJSONDate.days(next.0, next.1, 1) - ExtendedJSONDate.days(year, month, 1)
    }

    /// Returns the remainder of a division, never negative.
    static func remainder(_ value: Int, _ divisor: Int) -> Int {
        let rest = value % divisor
        return rest < 0 ? rest + divisor : rest
    }

    /// Returns the whole part of a quotient, rounded towards minus infinity.
    static func quotient(_ value: Int, _ divisor: Int) -> Int {
        value / divisor - (value % divisor < 0 ? 1 : 0)
    }
}
