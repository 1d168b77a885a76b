extension ExpressionDateParser {
    /// Reads the text in a format.
    mutating func read(_ format: String) throws(StoreError) {
        var rest = format.unicodeScalars[...]
        while let scalar = rest.popFirst() {
            if scalar == "%", let letter = rest.popFirst(), letter != "%" {
                guard !isAtEnd else {
                    throw failure("Not enough data available to satisfy format", at: at)
                }
                try read(letter)
                continue
            }
            guard !isAtEnd else {
                throw failure("Not enough data available to satisfy format", at: at)
            }
            let wanted = Array(String(scalar).utf8)
            guard bytes[at...].starts(with: wanted) else {
                throw failure("The format separator does not match", at: at)
            }
            at += wanted.count
        }
        guard isAtEnd else { throw failure("Trailing data", at: at) }
        let isISO = isoYear != nil || isoWeek != nil || isoWeekday != nil
        guard !isISO || (year == nil && month == nil && day == nil) else {
            throw failure("Mixing of ISO dates with natural dates is not allowed", at: at)
        }
    }

    private mutating func read(_ letter: Unicode.Scalar) throws(StoreError) {
        switch letter {
        case "Y": year = try required(number(4...4), "A four digit year could not be found")
        case "m": month = try required(number(1...2), "A two digit month could not be found")
        case "d": day = try required(number(1...2), "A two digit day could not be found")
        case "H": hour = try required(number(1...2), "A two digit hour could not be found")
        case "M": minute = try required(number(2...2), "A two digit minute could not be found")
        case "S": second = try required(number(2...2), "A two digit second could not be found")
        case "L":
            millisecond = try required(
                fraction(1...3), "A three digit millisecond could not be found")
        case "j":
            let ordinal = try required(
                number(1...3), "A three digit day-of-year could not be found")
            guard year != nil else {
                throw failure(
                    "A 'day of year' can only come after a year has been found", at: at)
            }
            // The server counts the days from 0 here.
            // Source: its `timelib/dist/parse_date.re`, `TIMELIB_FORMAT_DAY_OF_YEAR`.
            dayOfYear = ordinal + 1
        case "G":
            isoYear = try required(number(1...4), "A four digit ISO year could not be found")
        case "V": isoWeek = try required(number(1...2), "A two digit ISO week could not be found")
        case "u":
            isoWeekday = try required(
                number(1...1), "A one digit ISO day of week could not be found")
        case "b", "B": month = try required(monthName(), "A textual month could not be found")
        case "z":
            while skip(" ") || skip("\t") || skip("(") { continue }
            guard zone() else {
                throw failure("The timezone could not be found in the database", at: at)
            }
        default:
            let isWest = isNext("-")
            _ = skip("+") || skip("-")
            let minutes = try required(
                number(1...4), "A timezone offset in minutes could not be found")
            offset = minutes * (isWest ? -60 : 60)
        }
    }

    private func required(_ value: Int?, _ reason: String) throws(StoreError) -> Int {
        guard let value else { throw failure(reason, at: at) }
        return value
    }

    /// Reads the text in usual notations: days, times and zones in any order.
    mutating func readFreely() throws(StoreError) {
        guard !isAtEnd else { throw failure("Empty string", at: 0) }
        while true {
            skipSpaces()
            _ = skip(",")
            skipSpaces()
            guard !isAtEnd else { return }
            let start = at
            let isRead =
                readTimestamp() || readDay() || readYear() || readTime() || readWords() || zone()
            if !isRead {
                at = start
                throw word().isEmpty
                    ? failure("Unexpected character", at: start)
                    : failure(
                        "passing a time zone identifier as part of the string is not allowed",
                        at: start)
            }
        }
    }

    private var hasDay: Bool { year != nil || isoYear != nil }

    private mutating func readTimestamp() -> Bool {
        let start = at
        guard skip("@") else { return false }
        let isNegative = skip("-")
        guard let seconds = number(1...12) else {
            at = start
            return false
        }
        let date = CalendarFields(milliseconds: Int64(isNegative ? -seconds : seconds) * 1_000)
        (year, month, day) = (date.year, date.month, date.day)
        (hour, minute, second) = (date.hour, date.minute, date.second)
        offset = 0
        return true
    }

    /// Reads a year by itself, as in `Jan 31 12:05 1996`.
    ///
    /// Source: the server's `timelib/dist/parse_date.re`, `year4` and `gnunocolon`: four digits
    /// that may be a time are one if no time was read before.
    private mutating func readYear() -> Bool {
        let start = at
        guard let first = number(4...4),
            isAtEnd || isNext(" ") || isNext("\t") || isNext(","),
            hour != nil || first / 100 > 24 || first % 100 > 59
        else {
            at = start
            return false
        }
        year = first
        return true
    }

    /// Reads a day in numbers, year first or last, or with a month's name in between.
    private mutating func readDay() -> Bool {
        guard !hasDay else { return false }
        let start = at
        if isNext("-") || isNext("+") {
            if readSigned() { return true }
            at = start
            return false
        }
        if let first = number(4...4) {
            if readYearFirst(first) { return true }
            at = start
        }
        if let first = number(1...2) {
            if readDayFirst(first) { return true }
            at = start
        }
        return false
    }

    /// Reads `-0001-01-31`.
    private mutating func readSigned() -> Bool {
        let isNegative = isNext("-")
        at += 1
        guard let number = number(4...4), skip("-"), let month = self.number(2...2), skip("-"),
            let day = self.number(2...2)
        else { return false }
        (year, self.month, self.day) = (isNegative ? -number : number, month, day)
        return true
    }

    private mutating func readYearFirst(_ first: Int) -> Bool {
        let start = at
        // A time may follow at once, as in `20170719101112`.
        if let month = number(2...2), let day = number(2...2), month <= 12, day <= 31 {
            (year, self.month, self.day) = (first, month, day)
            return true
        }
        at = start
        // `2017:07:19 10:11:12`, as cameras write it.
        if skip(":"), let month = number(2...2), skip(":"), let day = number(2...2), isNext(" ") {
            (year, self.month, self.day) = (first, month, day)
            return true
        }
        at = start
        if readDayOfYear(first) || readWeek(first) { return true }
        at = start
        guard let separator = bytes[safe: at], separator == 0x2D || separator == 0x2F else {
            return false
        }
        at += 1
        if separator == 0x2D, readWeek(first) { return true }
        if let ordinal = number(3...3) {
            (year, dayOfYear) = (first, ordinal)
            return true
        }
        guard let month = number(1...2) ?? monthName() else { return false }
        (year, self.month, day) = (first, month, 1)
        guard bytes[safe: at] == separator else { return true }
        at += 1
        guard let day = number(1...2) else { return false }
        self.day = day
        return true
    }

    /// Reads `187` or `.187`, the day of a year, behind the year.
    private mutating func readDayOfYear(_ year: Int) -> Bool {
        let start = at
        _ = skip(".")
        guard let ordinal = number(3...3), (1...366).contains(ordinal),
            isAtEnd || !ExtendedJSONCharacters.isDigit(bytes[at])
        else {
            at = start
            return false
        }
        (self.year, dayOfYear) = (year, ordinal)
        return true
    }

    /// Reads `W27`, `W273` or `W27-3` behind a year.
    private mutating func readWeek(_ year: Int) -> Bool {
        let start = at
        guard skip("W"), let week = number(2...2) else {
            at = start
            return false
        }
        (isoYear, isoWeek) = (year, week)
        _ = skip("-")
        isoWeekday = number(1...1)
        return true
    }

    private mutating func readDayFirst(_ first: Int) -> Bool {
        if skip("/") {
            if let month = monthName() {
                // The day in a web server's log; a colon separates it from the time.
                guard skip("/"), let year = number(4...4), skip(":") else { return false }
                (day, self.month, self.year) = (first, month, year)
                return true
            }
            guard let second = number(1...2), skip("/"), let year = shortYear() else {
                return false
            }
            (month, day, self.year) = (first, second, year)
            return true
        }
        let isDotted = isNext(".")
        if isNext("-") || isDotted {
            at += 1
            let name = monthName()
            guard let month = name ?? number(1...2), skip(isDotted ? "." : "-") else {
                return false
            }
            if let year = name == nil ? number(4...4) : shortYear() {
                (day, self.month, self.year) = (first, month, year)
                return true
            }
            // The year comes first where no year of four digits follows: `17-07-19`.
            guard !isDotted, let day = number(1...2) else { return false }
            (self.year, self.month, self.day) = (Self.fullYear(first), month, day)
            return true
        }
        skipOrdinal()
        skipSpaces()
        guard let month = monthName() else { return false }
        _ = skip(".")
        skipSpaces()
        _ = skip(",")
        skipSpaces()
        (day, self.month, self.year) = (first, month, number(4...4))
        return true
    }

    private mutating func skipOrdinal() {
        if ["st", "nd", "rd", "th"].contains(word()) { at += 2 }
    }

    /// Reads `12:15`, `12:15:30.5`, either with `am` or `pm`, `T12`, or `121530` behind a day.
    private mutating func readTime() -> Bool {
        guard hour == nil else { return false }
        let start = at
        let isMarked = skip("T") || skip("t")
        guard var hours = number(1...2) else {
            at = start
            return false
        }
        if let shifted = meridian(hours) {
            (hour, minute) = (shifted, 0)
            return true
        }
        guard skip(":") || skip(".") else {
            if isMarked, isAtEnd || !ExtendedJSONCharacters.isDigit(bytes[at]) {
                (hour, minute) = (hours, 0)
                return true
            }
            return readShortTime(hours, start)
        }
        guard let minutes = number(1...2) else {
            at = start
            return false
        }
        if skip(":") || skip(".") {
            second = number(1...2)
            if skip(".") || skip(",") { millisecond = fraction(1...9) }
        }
        hours = meridian(hours) ?? hours
        (hour, minute) = (hours, minutes)
        return true
    }

    /// Reads `am` or `pm` and returns the hour of the day, `nil` if there is neither.
    private mutating func meridian(_ hours: Int) -> Int? {
        let start = at
        skipSpaces()
        let isMorning = isNext("a") || isNext("A")
        guard (1...12).contains(hours), isMorning || isNext("p") || isNext("P") else {
            at = start
            return nil
        }
        at += 1
        _ = skip(".")
        guard skip("m") || skip("M"), word().isEmpty else {
            at = start
            return nil
        }
        _ = skip(".")
        return hours % 12 + (isMorning ? 0 : 12)
    }

    private mutating func readShortTime(_ hours: Int, _ start: Int) -> Bool {
        guard let minutes = number(2...2) else {
            at = start
            return false
        }
        (hour, minute) = (hours, minutes)
        second = number(2...2)
        return true
    }

    /// Reads names of weekdays and of times, and days that begin with a month's name.
    private mutating func readWords() -> Bool {
        let word = word()
        if let weekday = ExpressionDateUnit.weekday(word) {
            self.weekday = weekday
            at += word.utf8.count
            _ = skip(".")
            return true
        }
        if ["noon", "midnight", "today"].contains(word) {
            (hour, minute, second) = (word == "noon" ? 12 : 0, 0, 0)
            at += word.utf8.count
            return true
        }
        guard month == nil, let month = monthName() else { return false }
        self.month = month
        let start = at
        if skip("-"), let day = number(2...2), skip("-"), let year = shortYear() {
            (self.day, self.year) = (day, year)
            return true
        }
        at = start
        _ = skip(".")
        skipSpaces()
        if let year = number(4...4) {
            (self.year, day) = (year, 1)
            return true
        }
        guard let day = number(1...2) else { return true }
        self.day = day
        skipOrdinal()
        skipSpaces()
        _ = skip(",")
        skipSpaces()
        let beforeYear = at
        year = number(4...4)
        // Digits before a colon were a time.
        if isNext(":") {
            year = nil
            at = beforeYear
        }
        return true
    }
}
