/// A parser for dates, in a given format or in usual notations.
struct ExpressionDateParser {
    let text: String
    let bytes: [UInt8]
    var at = 0
    var year: Int?
    var month: Int?
    var day: Int?
    var hour: Int?
    var minute: Int?
    var second: Int?
    var millisecond: Int?
    var isoYear: Int?
    var isoWeek: Int?
    var isoWeekday: Int?
    var dayOfYear: Int?
    /// The named weekday, 1 for Monday; the date moves to the next such day.
    var weekday: Int?
    /// The offset in the text, in seconds east of UTC.
    var offset: Int?
    /// The zone's abbreviation in the text.
    var zoneName: String?

    private init(_ text: String, trims: Bool) {
        self.text = text
        bytes = trims ? Self.trimmed(text) : Array(text.utf8)
    }

    /// Returns the text without blanks and zeros at its ends.
    private static func trimmed(_ text: String) -> [UInt8] {
        var scalars = text.unicodeScalars[...]
        while let first = scalars.first, isBlank(first) { scalars.removeFirst() }
        while let last = scalars.last, isBlank(last) { scalars.removeLast() }
        return Array(String(String.UnicodeScalarView(scalars)).utf8)
    }

    private static func isBlank(_ character: Unicode.Scalar) -> Bool {
        switch character {
        case "\0", "\t"..."\r", " ", "\u{A0}": true
        default: false
        }
    }

    /// Reads a date in a validated format, or in a usual notation.
    ///
    /// - Throws: `conversionFailure` for text that is not a date, or one that the zone contradicts.
    static func date(
        _ text: String, _ format: String?, _ zone: ExpressionTimeZone
    ) throws(StoreError) -> BSONDatetime {
        var parser = ExpressionDateParser(text, trims: format == nil)
        if let format {
            try parser.read(format)
        } else {
            try parser.readFreely()
        }
        return try parser.date(in: zone)
    }

    private func date(in zone: ExpressionTimeZone) throws(StoreError) -> BSONDatetime {
        var days: Int?
        if let year, let dayOfYear {
            days = ExtendedJSONDate.days(year, 1, 1) + dayOfYear - 1
        } else if let isoYear {
            days = CalendarFields.days(
                isoYear: isoYear, week: isoWeek ?? 1, weekday: isoWeekday ?? 1)
        } else if let year, let month, let day {
            let isValid =
                (1...12).contains(month)
                && (1...CalendarFields.length(ofMonth: month, year)).contains(day)
            guard isValid else { throw failure("The parsed date was invalid", at: bytes.count) }
            days = ExtendedJSONDate.days(year, month, day)
        }
        guard var days else {
            throw StoreError(
                .conversionFailure,
                "an incomplete date/time string has been found, with elements missing: "
                    + "\"\(text)\"")
        }
        if let weekday { days += CalendarFields.remainder(weekday - 1 - (days + 3), 7) }
        guard hour ?? 0 < 24, minute ?? 0 < 60, second ?? 0 < 60 else {
            throw failure("The parsed time was invalid", at: bytes.count)
        }
        let local =
            days * 86_400 + (hour ?? 0) * 3_600 + (minute ?? 0) * 60 + (second ?? 0)
        if !zone.isUTC, let zoneName {
            throw StoreError(
                .conversionFailure,
                "you cannot pass in a date/time string with time zone information ('\(zoneName)') "
                    + "together with a timezone argument")
        }
        if !zone.isUTC, offset != nil {
            throw StoreError(
                .conversionFailure,
                "you cannot pass in a date/time string with GMT offset together with a timezone "
                    + "argument")
        }
        let seconds = offset.map { local - $0 } ?? zone.universal(local)
        return BSONDatetime(milliseconds: Int64(seconds * 1_000 + (millisecond ?? 0)))
    }

    /// Returns the error for text that is not a date, with the place of the fault.
    func failure(_ reason: String, at place: Int) -> StoreError {
        let character =
            place < bytes.count
            ? String(decoding: bytes[place...], as: UTF8.self).unicodeScalars.first.map(String.init)
                ?? "" : ""
        return StoreError(
            .conversionFailure,
            "Error parsing date string '\(text)'; \(place): \(reason) '\(character)'")
    }

    var isAtEnd: Bool { at == bytes.count }

    func isNext(_ character: Unicode.Scalar) -> Bool {
        at < bytes.count && bytes[at] == UInt8(ascii: character)
    }

    mutating func skip(_ character: Unicode.Scalar) -> Bool {
        guard isNext(character) else { return false }
        at += 1
        return true
    }

    mutating func skipSpaces() {
        while skip(" ") || skip("\t") { continue }
    }

    /// Reads a number whose count of digits is within bounds.
    mutating func number(_ counts: ClosedRange<Int>) -> Int? {
        let digits = bytes[at...].prefix { ExtendedJSONCharacters.isDigit($0) }.prefix(
            counts.upperBound)
        guard digits.count >= counts.lowerBound else { return nil }
        at += digits.count
        return digits.reduce(0) { $0 * 10 + Int($1 - UInt8(ascii: "0")) }
    }

    /// Reads a fraction as milliseconds; finer digits are truncated.
    mutating func fraction(_ counts: ClosedRange<Int>) -> Int? {
        let digits = bytes[at...].prefix { ExtendedJSONCharacters.isDigit($0) }.prefix(
            counts.upperBound)
        guard digits.count >= counts.lowerBound else { return nil }
        at += digits.count
        let first = digits.prefix(3).reduce(0) { $0 * 10 + Int($1 - UInt8(ascii: "0")) }
        return [100, 10][safe: digits.count - 1].map { first * $0 } ?? first
    }

    /// Reads a year of one to four digits; short ones lie around the turn of the century.
    mutating func shortYear() -> Int? {
        let start = at
        guard let year = number(1...4) else { return nil }
        return at - start < 4 ? Self.fullYear(year) : year
    }

    /// Returns the year that a number below 100 stands for; it lies around the turn of the century.
    static func fullYear(_ year: Int) -> Int {
        year < 100 ? year + (year < 70 ? 2_000 : 1_900) : year
    }

    /// Returns the letters at the cursor, in lower case.
    func word() -> String {
        let letters = bytes[at...].prefix { (65...90).contains($0) || (97...122).contains($0) }
        return ExpressionString.lower(String(decoding: letters, as: UTF8.self))
    }

    /// Reads the name of a month, whole or of three letters, and returns its number.
    mutating func monthName() -> Int? {
        let word = word()
        let index = ExpressionDateFormat.months.firstIndex {
            let name = ExpressionString.lower($0)
            return name == word || name.prefix(3) == word || word == "sept" && $0 == "September"
        }
        guard let index else { return nil }
        at += word.utf8.count
        return index + 1
    }

    /// Reads `Z`, `UTC`, `EST` …, or an offset; returns `false` if there is neither.
    mutating func zone() -> Bool {
        let start = at
        let word = word()
        let name = String(decoding: bytes[at..<at + word.utf8.count], as: UTF8.self)
        let isUniversal = ["z", "utc", "gmt"].contains(word)
        if !word.isEmpty {
            guard let known = Self.zones[word] ?? Self.letterZone(word) else { return false }
            at += word.utf8.count
            guard isUniversal, isNext("+") || isNext("-") else {
                offset = known
                zoneName = name.uppercased()
                return true
            }
        }
        let isWest = isNext("-")
        guard skip("+") || skip("-"), let hours = number(1...2) else {
            at = start
            return false
        }
        _ = skip(":")
        let minutes = number(2...2) ?? 0
        offset = (hours * 60 + minutes) * (isWest ? -60 : 60)
        return true
    }

    /// Returns the offset of a military time zone of one letter.
    private static func letterZone(_ word: String) -> Int? {
        guard word.utf8.count == 1, let letter = word.utf8.first else { return nil }
        if let east = Array("abcdefghiklm".utf8).firstIndex(of: letter) {
            return (east + 1) * 3_600
        }
        return Array("nopqrstuvwxy".utf8).firstIndex(of: letter).map { ($0 + 1) * -3_600 }
    }

    /// The offsets of abbreviated time zones.
    private static let zones: [String: Int] = [
        "z": 0, "utc": 0, "gmt": 0, "wet": 0, "cet": 3_600, "bst": 3_600, "cest": 7_200,
        "eet": 7_200, "eest": 10_800, "msk": 10_800, "ist": 19_800, "jst": 32_400, "est": -18_000,
        "edt": -14_400, "cst": -21_600, "cdt": -18_000, "mst": -25_200, "mdt": -21_600,
        "pst": -28_800, "pdt": -25_200, "akst": -32_400, "hst": -36_000,
    ]
}

extension Array {
    /// The element at a position, `nil` outside.
    subscript(safe index: Int) -> Element? { indices.contains(index) ? self[index] : nil }
}
