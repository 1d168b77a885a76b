/// Splits a local time into the parts of the proleptic Gregorian and of the ISO calendar.
struct CalendarFields {
    let year: Int
    let month: Int
    let day: Int
    let hour: Int
    let minute: Int
    let second: Int
    let millisecond: Int
    /// The days from the first of 1970 to this one.
    let days: Int

    /// Takes milliseconds since 1970 of a clock that shows the local time.
    init(milliseconds: Int64) {
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

    /// Takes a point of time as a zone's clocks show it.
    init(_ date: BSONDatetime, in zone: ExpressionTimeZone) {
        self.init(milliseconds: zone.local(date.milliseconds))
    }

    /// 1 for Sunday to 7 for Saturday.
    var weekday: Int { Self.remainder(days + 4, 7) + 1 }
    /// 1 for Monday to 7 for Sunday.
    var isoWeekday: Int { Self.remainder(days + 3, 7) + 1 }
    /// 1 for the first of January.
    var dayOfYear: Int { days - ExtendedJSONDate.days(year, 1, 1) + 1 }
    /// The Sundays of the year up to this day.
    var week: Int { (dayOfYear - weekday + 7) / 7 }

    /// The year that the ISO week belongs to: that of its Thursday.
    var isoYear: Int {
        let thursday = days - isoWeekday + 4
        return Self.year(ofDay: thursday)
    }

    /// 1 to 53.
    var isoWeek: Int {
        let thursday = days - isoWeekday + 4
        return (thursday - ExtendedJSONDate.days(isoYear, 1, 1)) / 7 + 1
    }

    /// The days from 1970 to a day of an ISO week.
    static func days(isoYear: Int, week: Int, weekday: Int) -> Int {
        let fourth = ExtendedJSONDate.days(isoYear, 1, 4)
        let monday = fourth - remainder(fourth + 3, 7)
        return monday + (week - 1) * 7 + weekday - 1
    }

    /// The year of a day counted from 1970; days that milliseconds cannot count are cut off.
    static func year(ofDay day: Int) -> Int {
        let most = Int.max / 86_400_000 - 1
        return ExtendedJSONDate(milliseconds: Int64(max(-most, min(most, day)) * 86_400_000)).year
    }

    /// How many days a month has.
    static func length(ofMonth month: Int, _ year: Int) -> Int {
        let next = month == 12 ? (year + 1, 1) : (year, month + 1)
        return ExtendedJSONDate.days(next.0, next.1, 1) - ExtendedJSONDate.days(year, month, 1)
    }

    /// What a division leaves, never negative.
    static func remainder(_ value: Int, _ divisor: Int) -> Int {
        let rest = value % divisor
        return rest < 0 ? rest + divisor : rest
    }

    /// The whole part of a quotient, towards minus infinity.
    static func quotient(_ value: Int, _ divisor: Int) -> Int {
        value / divisor - (value % divisor < 0 ? 1 : 0)
    }
}
