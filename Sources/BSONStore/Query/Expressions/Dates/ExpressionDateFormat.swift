/// The formatting of dates as text.
enum ExpressionDateFormat {
    /// The default format.
    static let isoFormat = "%Y-%m-%dT%H:%M:%S.%LZ"
    /// Returns the default format in a zone: only a time of UTC ends in Z.
    static func isoFormat(in zone: ExpressionTimeZone) -> String {
        zone.isUniversal ? isoFormat : String(isoFormat.dropLast())
    }

    /// The letters that may follow a percent sign when a date is written.
    static let letters = "bBdGHjLmMSwuUVYzZ"
    /// The letters that may follow a percent sign when a date is read.
    static let readLetters = "bBdGHjLmMSuVYzZ"
    /// The names of the months.
    static let months = [
        "January", "February", "March", "April", "May", "June", "July", "August", "September",
        "October", "November", "December",
    ]

    /// Checks that a known letter follows each percent sign.
    ///
    /// - Throws: 18535 or 18536 with MongoDB's text.
    static func validate(_ format: String, _ letters: String) throws(StoreError) {
        var rest = format.unicodeScalars[...]
        while let percent = rest.firstIndex(of: "%") {
            rest = rest[percent...].dropFirst()
            guard let letter = rest.popFirst() else {
                throw .location(18535, "Unmatched '%' at end of format string")
            }
            guard letter == "%" || letters.unicodeScalars.contains(letter) else {
                throw .location(18536, "Invalid format character '%\(letter)' in format string")
            }
        }
    }

    /// Returns a date as ISO 8601 text in UTC; `nil` outside of the years 0 to 9999.
    static func iso(_ milliseconds: Int64) -> String? {
        do throws(StoreError) {
            return try text(isoFormat, milliseconds, .utc)
        } catch {
            return nil
        }
    }

    /// Returns a date in a validated format.
    ///
    /// - Throws: 18537 if the format includes a year outside of 0 to 9999.
    static func text(
        _ format: String, _ milliseconds: Int64, _ zone: ExpressionTimeZone
    ) throws(StoreError) -> String {
        let date = BSONDatetime(milliseconds: milliseconds)
        let parts = CalendarFields(date, in: zone)
        var text = ""
        var rest = format.unicodeScalars[...]
        while let scalar = rest.popFirst() {
            guard scalar == "%", let letter = rest.popFirst() else {
                text.unicodeScalars.append(scalar)
                continue
            }
            if letter == "Y" || letter == "G" {
                let year = letter == "Y" ? parts.year : parts.isoYear
                guard (0...9_999).contains(year) else {
                    throw .location(
                        18537,
                        "Could not convert date to string: date component was outside the "
                            + "supported range of 0-9999: \(year)")
                }
            }
            let offset = zone.offset(at: CalendarFields.quotient(Int(milliseconds), 1_000))
            text += part(letter, parts, offset: offset)
        }
        return text
    }

    private static func part(
        _ letter: Unicode.Scalar, _ date: CalendarFields, offset: Int
    ) -> String {
        let minutes = offset.magnitude / 60
        let sign = offset < 0 ? "-" : "+"
        switch letter {
        case "Y": return padded(date.year, 4)
        case "m": return padded(date.month, 2)
        case "d": return padded(date.day, 2)
        case "H": return padded(date.hour, 2)
        case "M": return padded(date.minute, 2)
        case "S": return padded(date.second, 2)
        case "L": return padded(date.millisecond, 3)
        case "j": return padded(date.dayOfYear, 3)
        case "w": return String(date.weekday)
        case "u": return String(date.isoWeekday)
        case "U": return padded(date.week, 2)
        case "V": return padded(date.isoWeek, 2)
        case "G": return padded(date.isoYear, 4)
        case "b": return String(months[date.month - 1].prefix(3))
        case "B": return months[date.month - 1]
        case "z": return sign + padded(Int(minutes / 60), 2) + padded(Int(minutes % 60), 2)
        case "Z": return String(offset / 60)
        default: return String(letter)
        }
    }

    /// Returns a number padded to a width.
    static func padded(_ value: Int, _ width: Int, with filler: String = "0") -> String {
        let digits = String(value)
        return String(repeating: filler, count: max(0, width - digits.utf8.count)) + digits
    }
}
