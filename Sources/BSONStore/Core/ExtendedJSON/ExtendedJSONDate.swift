/// A date of the proleptic Gregorian calendar in UTC, converted from milliseconds since 1970 and
/// back.
///
/// The algorithm counts days from March, so that a leap day ends its year (Howard Hinnant,
/// "chrono-Compatible Low-Level Date Algorithms").
package struct ExtendedJSONDate: Sendable, Hashable {
    /// The milliseconds that relaxed Extended JSON writes as text: the years 1970 to 9999.
    static let textRange: ClosedRange<Int64> = 0...253_402_300_799_999

    package let year: Int
    package let month: Int
    package let day: Int
    package let hour: Int
    package let minute: Int
    package let second: Int
    package let millisecond: Int

    package init(milliseconds: Int64) {
        let perDay: Int64 = 86_400_000
        var days = Int(milliseconds / perDay)
        var rest = Int(milliseconds % perDay)
        if rest < 0 {
            rest += Int(perDay)
            days -= 1
        }
        days += 719_468
        let era = (days >= 0 ? days : days - 146_096) / 146_097
        let dayOfEra = days - era * 146_097
        let yearOfEra =
            (dayOfEra - dayOfEra / 1_460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
        let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
        let monthFromMarch = (5 * dayOfYear + 2) / 153
        day = dayOfYear - (153 * monthFromMarch + 2) / 5 + 1
        month = monthFromMarch < 10 ? monthFromMarch + 3 : monthFromMarch - 9
        year = yearOfEra + era * 400 + (month <= 2 ? 1 : 0)
        hour = rest / 3_600_000
        minute = rest / 60_000 % 60
        second = rest / 1_000 % 60
        millisecond = rest % 1_000
    }

    /// Reads RFC 3339 text: `2012-12-24T12:15:30.501Z`, with any offset.
    ///
    /// Digits finer than a millisecond are truncated. Returns `nil` for other text and for a day or
    /// time that does not exist; BSON has no leap seconds.
    package static func milliseconds(_ text: UnsafeBufferPointer<UInt8>) -> Int64? {
        var reader = Reader(text: text)
        guard let year = reader.number(4), reader.skip("-"), let month = reader.number(2),
            reader.skip("-"), let day = reader.number(2), reader.skip("T", or: "t"),
            let hour = reader.number(2), reader.skip(":"), let minute = reader.number(2),
            reader.skip(":"), let second = reader.number(2),
            let fraction = reader.fraction(), let offset = reader.offset(),
            reader.isAtEnd, (1...12).contains(month), (1...length(of: month, year)).contains(day),
            hour < 24, minute < 60, second < 60
        else { return nil }
        let minutes = (days(year, month, day) * 24 + hour) * 60 + minute - offset
        return Int64(minutes) * 60_000 + Int64(second * 1_000 + fraction)
    }

    /// Writes RFC 3339 text in UTC; `nil` outside of the years 0 to 9999.
    ///
    /// With `hasMilliseconds` all texts have one width, so that they sort as their times do.
    static func text(_ milliseconds: Int64, hasMilliseconds: Bool = false) -> String? {
        guard (-62_167_219_200_000...253_402_300_799_999).contains(milliseconds) else { return nil }
        let date = ExtendedJSONDate(milliseconds: milliseconds)
        func padded(_ value: Int, _ width: Int) -> String {
            let digits = String(value)
            return String(repeating: "0", count: width - digits.count) + digits
        }
        let day = "\(padded(date.year, 4))-\(padded(date.month, 2))-\(padded(date.day, 2))"
        let time = "\(padded(date.hour, 2)):\(padded(date.minute, 2)):\(padded(date.second, 2))"
        let fraction =
            date.millisecond == 0 && !hasMilliseconds ? "" : ".\(padded(date.millisecond, 3))"
        return "\(day)T\(time)\(fraction)Z"
    }

    private static func length(of month: Int, _ year: Int) -> Int {
        switch month {
        case 2: year % 4 == 0 && (year % 100 != 0 || year % 400 == 0) ? 29 : 28
        case 4, 6, 9, 11: 30
        default: 31
        }
    }

    /// Returns the days from 1970 to a day.
    package static func days(_ year: Int, _ month: Int, _ day: Int) -> Int {
        let year = month <= 2 ? year - 1 : year
        let era = (year >= 0 ? year : year - 399) / 400
        let yearOfEra = year - era * 400
        let dayOfYear = (153 * (month > 2 ? month - 3 : month + 9) + 2) / 5 + day - 1
        let dayOfEra = yearOfEra * 365 + yearOfEra / 4 - yearOfEra / 100 + dayOfYear
        return era * 146_097 + dayOfEra - 719_468
    }
}

extension ExtendedJSONDate {
    /// A reader of the parts of a date's text.
    private struct Reader {
        let text: UnsafeBufferPointer<UInt8>
        var at = 0

        var isAtEnd: Bool { at == text.count }

        mutating func number(_ width: Int) -> Int? {
            guard at + width <= text.count else { return nil }
            var value = 0
            for byte in text[at..<at + width] {
                guard ExtendedJSONCharacters.isDigit(byte) else { return nil }
                value = value * 10 + Int(byte - UInt8(ascii: "0"))
            }
            at += width
            return value
        }

        mutating func skip(_ first: Unicode.Scalar, or second: Unicode.Scalar? = nil) -> Bool {
            guard at < text.count else { return false }
            let found = Unicode.Scalar(text[at])
            guard found == first || found == second else { return false }
            at += 1
            return true
        }

        /// Reads an optional fraction of one to nine digits as milliseconds.
        mutating func fraction() -> Int? {
            guard skip(".") else { return 0 }
            var value = 0
            var digits = 0
            while at < text.count, ExtendedJSONCharacters.isDigit(text[at]) {
                if digits < 3 { value = value * 10 + Int(text[at] - UInt8(ascii: "0")) }
                digits += 1
                at += 1
            }
            guard (1...9).contains(digits) else { return nil }
            return digits == 1 ? value * 100 : digits == 2 ? value * 10 : value
        }

        /// Reads an offset as minutes east of UTC.
        mutating func offset() -> Int? {
            if skip("Z", or: "z") { return 0 }
            let isWest = at < text.count && text[at] == UInt8(ascii: "-")
            guard skip("+", or: "-"), let hours = number(2) else { return nil }
            _ = skip(":")
            guard let minutes = number(2), hours < 24, minutes < 60 else { return nil }
            return isWest ? -(hours * 60 + minutes) : hours * 60 + minutes
        }
    }
}
