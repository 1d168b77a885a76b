/// A unit by which dates are shifted, compared and truncated.
enum ExpressionDateUnit: String, Sendable {
    case year
    case quarter
    case month
    case week
    case day
    case hour
    case minute
    case second
    case millisecond

    /// The length in milliseconds; `nil` for units whose length varies.
    var milliseconds: Int64? {
        switch self {
        case .year, .quarter, .month, .week, .day: nil
        case .hour: 3_600_000
        case .minute: 60_000
        case .second: 1_000
        case .millisecond: 1
        }
    }

    /// The number of months, for units longer than weeks.
    var months: Int? {
        switch self {
        case .year: 12
        case .quarter: 3
        case .month: 1
        case .week, .day, .hour, .minute, .second, .millisecond: nil
        }
    }

    /// The maximum amount of the unit to add; more would exceed the range of dates anyway.
    var amountMax: Int64 {
        let days: Int64 = 213_503_982_335
        let years = days / 365 + 1
        switch self {
        case .year: return years
        case .quarter: return years * 4
        case .month: return years * 12
        case .week: return days / 7
        case .day: return days
        case .hour: return days * 24
        case .minute: return days * 1_440
        case .second: return days * 86_400
        case .millisecond: return .max
        }
    }

    /// Returns the number of a weekday's name, 1 for Monday; in any case, whole or of three
    /// letters.
    static func weekday(_ name: String) -> Int? {
        let names = [
            "monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday",
        ]
        let wanted = ExpressionString.lower(name)
        return names.firstIndex { $0 == wanted || $0.prefix(3) == wanted }.map { $0 + 1 }
    }
}

extension ExpressionDate {
    /// Adds an amount of a unit; adding days keeps the local time in the zone.
    ///
    /// - Throws: 5976500 or 5166406 if the result exceeds the range of dates.
    static func add(
        _ date: BSONDatetime, _ unit: ExpressionDateUnit, _ amount: Int64,
        _ zone: ExpressionTimeZone
    ) throws(StoreError) -> BSONDatetime {
        let tooFar = StoreError.location(5_166_406, "dateAdd overflowed")
        guard unit == .millisecond || (-unit.amountMax + 1..<unit.amountMax).contains(amount) else {
            throw .location(
                5_976_500, "invalid dateAdd 'amount' parameter value: \(amount) \(unit.rawValue)")
        }
        if let length = unit.milliseconds {
            let (span, overflow) = amount.multipliedReportingOverflow(by: length)
            let (sum, isTooFar) = date.milliseconds.addingReportingOverflow(span)
            guard !overflow, !isTooFar else { throw tooFar }
            return BSONDatetime(milliseconds: sum)
        }
        let local = CalendarFields(date, in: zone)
        var days = local.days
        if let months = unit.months {
            let month = local.year * 12 + local.month - 1 + Int(amount) * months
            let year = CalendarFields.quotient(month, 12)
            let inYear = CalendarFields.remainder(month, 12) + 1
            let day = min(local.day, CalendarFields.length(ofMonth: inYear, year))
            days = ExtendedJSONDate.days(year, inYear, day)
        } else {
            days += Int(amount) * (unit == .week ? 7 : 1)
        }
        let (start, overflow) = days.multipliedReportingOverflow(by: 86_400)
        guard !overflow, start.magnitude < Int.max / 1_000 + 1_000_000 else { throw tooFar }
        let seconds = zone.universal(
            start + local.hour * 3_600 + local.minute * 60 + local.second)
        let (milliseconds, isTooFar) = seconds.multipliedReportingOverflow(by: 1_000)
        guard !isTooFar else { throw tooFar }
        let (sum, isBehind) = milliseconds.addingReportingOverflow(local.millisecond)
        guard !isBehind else { throw tooFar }
        return BSONDatetime(milliseconds: Int64(sum))
    }

    /// Returns the number of unit boundaries between two dates, in the zone's local time.
    static func difference(
        _ start: BSONDatetime, _ end: BSONDatetime, _ unit: ExpressionDateUnit,
        _ zone: ExpressionTimeZone, startOfWeek: Int
    ) throws(StoreError) -> Int64 {
        if unit == .millisecond {
            let (span, overflow) = end.milliseconds.subtractingReportingOverflow(
                start.milliseconds)
            guard !overflow else { throw .location(5_166_308, "dateDiff overflowed") }
            return span
        }
        let a = CalendarFields(start, in: zone)
        let b = CalendarFields(end, in: zone)
        if let months = unit.months {
            func count(_ date: CalendarFields) -> Int {
                date.year * (12 / months) + (date.month - 1) / months
            }
            return Int64(count(b) - count(a))
        }
        func weekday(_ date: CalendarFields) -> Int {
            CalendarFields.remainder(date.isoWeekday - startOfWeek, 7)
        }
        let days = b.days - a.days
        if unit == .week { return Int64((days + weekday(a) - weekday(b)) / 7) }
        if unit == .day { return Int64(days) }
        let seconds = Int((unit.milliseconds ?? 1_000) / 1_000)
        func clock(_ date: CalendarFields) -> Int {
            (date.hour * 3_600 + date.minute * 60 + date.second) / seconds
        }
        // A clock change between the two dates is ignored.
        let shift = offset(start, zone) - offset(end, zone)
        return Int64(days * (86_400 / seconds) + clock(b) - clock(a) + shift / seconds)
    }

    private static func offset(_ date: BSONDatetime, _ zone: ExpressionTimeZone) -> Int {
        zone.offset(at: CalendarFields.quotient(Int(date.milliseconds), 1_000))
    }

    /// Returns the start of the bin that contains a date; bins are counted from 2000.
    static func truncate(
        _ date: BSONDatetime, _ unit: ExpressionDateUnit, _ size: Int64,
        _ zone: ExpressionTimeZone, startOfWeek: Int
    ) throws(StoreError) -> BSONDatetime {
        let overflowed = StoreError.location(5_439_002, "dateTrunc overflowed")
        var days = ExtendedJSONDate.days(2_000, 1, 1)
        if unit == .week {
            let weekday = CalendarFields.remainder(6 - startOfWeek, 7)
            days += CalendarFields.remainder(7 - weekday, 7)
        }
        let reference = BSONDatetime(milliseconds: Int64(zone.universal(days * 86_400)) * 1_000)
        if let length = unit.milliseconds {
            let (run, overflow) = size.multipliedReportingOverflow(by: length)
            let (span, isTooFar) = date.milliseconds.subtractingReportingOverflow(
                reference.milliseconds)
            guard !overflow, !isTooFar else { throw overflowed }
            let rest = span % run
            let (start, isBefore) = date.milliseconds.subtractingReportingOverflow(
                rest < 0 ? rest + run : rest)
            guard !isBefore else { throw overflowed }
            return BSONDatetime(milliseconds: start)
        }
        guard size <= 100_000_000_000 else {
            throw .location(5_439_006, "dateTrunc unsupported binSize value")
        }
        let distance = try difference(reference, date, unit, zone, startOfWeek: startOfWeek)
        let rest = distance % size
        return try add(reference, unit, distance - (rest < 0 ? rest + size : rest), zone)
    }
}
