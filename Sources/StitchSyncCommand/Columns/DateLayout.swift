import BSONStore

/// The layout of a date in a column, in the notation of Go, of .NET or of Oracle.
struct DateLayout: Sendable {
    /// The notation of a layout.
    enum Notation: Sendable {
        case go
        case dotNet
        case oracle
    }

    private enum Part: Sendable {
        case year, shortYear, month, monthName, day, weekday, hour, hourOfHalf, half, minute, second
        case fraction, zone
        case text(String)
    }

    private let parts: [Part]

    // The longest token of a notation that fits is taken.
    private static let goTokens: [(String, Part)] = [
        ("2006", .year), ("06", .shortYear), ("January", .monthName), ("Jan", .monthName),
        ("01", .month), ("1", .month), ("02", .day), ("_2", .day), ("2", .day),
        ("Monday", .weekday), ("Mon", .weekday), ("15", .hour), ("03", .hourOfHalf),
        ("3", .hourOfHalf), ("04", .minute), ("4", .minute), ("05", .second), ("5", .second),
        ("PM", .half), ("pm", .half), ("-07:00", .zone), ("-0700", .zone), ("Z07:00", .zone),
        ("Z0700", .zone), ("MST", .zone),
    ]
    private static let dotNetTokens: [(String, Part)] = [
        ("yyyy", .year), ("yy", .shortYear), ("MMMM", .monthName), ("MMM", .monthName),
        ("MM", .month), ("M", .month), ("dddd", .weekday), ("ddd", .weekday), ("dd", .day),
        ("d", .day), ("HH", .hour), ("H", .hour), ("hh", .hourOfHalf), ("h", .hourOfHalf),
        ("mm", .minute), ("m", .minute), ("ss", .second), ("s", .second), ("tt", .half),
        ("fff", .fraction), ("ff", .fraction), ("f", .fraction), ("zzz", .zone),
    ]
    private static let oracleTokens: [(String, Part)] = [
        ("YYYY", .year), ("YY", .shortYear), ("MONTH", .monthName), ("MON", .monthName),
        ("MM", .month), ("DAY", .weekday), ("DY", .weekday), ("DD", .day), ("HH24", .hour),
        ("HH12", .hourOfHalf), ("HH", .hourOfHalf), ("MI", .minute), ("SS", .second),
        ("AM", .half), ("PM", .half), ("FF", .fraction), ("TZH:TZM", .zone),
    ]
    private static let months = [
        "january", "february", "march", "april", "may", "june", "july", "august", "september",
        "october", "november", "december",
    ]

    /// Reads a layout; `nil` for one that names neither a year nor a day.
    init?(_ layout: String, _ notation: Notation) {
        let tokens =
            switch notation {
            case .go: Self.goTokens
            case .dotNet: Self.dotNetTokens
            case .oracle: Self.oracleTokens
            }
        var (rest, parts, hasYear) = (layout[...], [Part](), false)
        while let character = rest.first {
            let found = tokens.filter { rest.hasPrefix($0.0) }.max { $0.0.count < $1.0.count }
            if let (token, part) = found {
                parts.append(part)
                switch part {
                case .year, .shortYear: hasYear = true
                default: break
                }
                rest = rest.dropFirst(token.count)
            } else if notation == .go, character == ".", let next = rest.dropFirst().first,
                next == "0" || next == "9"
            {
                parts.append(.text("."))
                parts.append(.fraction)
                rest = rest.dropFirst().drop { $0 == next }
            } else {
                parts.append(.text(String(character)))
                rest = rest.dropFirst()
            }
        }
        guard hasYear else { return nil }
        self.parts = parts
    }

    /// Returns the time that a text names, in UTC unless it names a zone; `nil` if the text does
    /// not have the layout.
    func time(of text: String) -> BSONDatetime? {
        var reading = Reading(rest: text[...])
        for part in parts { guard reading.take(part) else { return nil } }
        return reading.rest.isEmpty ? reading.time : nil
    }

    /// The parts of a time that were read.
    private struct Reading {
        var rest: Substring
        var (year, month, day) = (1970, 1, 1)
        var (hour, minute, second, milliseconds) = (0, 0, 0, 0)
        var isAfternoon: Bool?
        var offsetMinutes = 0

        init(rest: Substring) { self.rest = rest }

        mutating func take(_ part: Part) -> Bool {
            switch part {
            case .year: return take(4...4, 0...9999) { $0.year = $1 }
            case .shortYear:
                return take(2...2, 0...99) { $0.year = $1 < 69 ? 2000 + $1 : 1900 + $1 }
            case .month: return take(1...2, 1...12) { $0.month = $1 }
            case .day:
                rest = rest.drop { $0 == " " }
                return take(1...2, 1...31) { $0.day = $1 }
            case .hour: return take(1...2, 0...23) { $0.hour = $1 }
            case .hourOfHalf: return take(1...2, 1...12) { $0.hour = $1 % 12 }
            case .minute: return take(1...2, 0...59) { $0.minute = $1 }
            case .second: return take(1...2, 0...59) { $0.second = $1 }
            case .fraction: return takeFraction()
            case .monthName: return takeMonthName()
            case .weekday:
                let word = takeWord()
                return word.count >= 3
            case .half:
                let word = takeWord().lowercased()
                isAfternoon = word == "pm"
                return word == "pm" || word == "am"
            case .zone: return takeZone()
            case .text(let text):
                guard rest.hasPrefix(text) else { return false }
                rest = rest.dropFirst(text.count)
                return true
            }
        }

        private mutating func take(
            _ digits: ClosedRange<Int>, _ range: ClosedRange<Int>,
            _ set: (inout Reading, Int) -> Void
        ) -> Bool {
            let text = rest.prefix(digits.upperBound).prefix { ("0"..."9").contains($0) }
            guard text.count >= digits.lowerBound, let number = Int(text),
                range.contains(number)
            else { return false }
            rest = rest.dropFirst(text.count)
            set(&self, number)
            return true
        }

        private mutating func takeFraction() -> Bool {
            let digits = rest.prefix { ("0"..."9").contains($0) }
            guard !digits.isEmpty, let number = Int((digits + "000").prefix(3)) else {
                return false
            }
            milliseconds = number
            rest = rest.dropFirst(digits.count)
            return true
        }

        private mutating func takeWord() -> Substring {
            let word = rest.prefix(while: \.isLetter)
            rest = rest.dropFirst(word.count)
            return word
        }

        private mutating func takeMonthName() -> Bool {
            let word = takeWord().lowercased()
            guard word.count >= 3,
                let index = DateLayout.months.firstIndex(where: { $0.hasPrefix(word) })
            else { return false }
            month = index + 1
            return true
        }

        private mutating func takeZone() -> Bool {
            if rest.hasPrefix("Z") || rest.hasPrefix("UTC") || rest.hasPrefix("GMT") {
                rest = rest.dropFirst(rest.hasPrefix("Z") ? 1 : 3)
                return true
            }
            guard let sign = rest.first, sign == "+" || sign == "-" else { return false }
            rest = rest.dropFirst()
            var (hours, minutes) = (0, 0)
            guard take(2...2, 0...14, { _, number in hours = number }) else { return false }
            if rest.hasPrefix(":") { rest = rest.dropFirst() }
            guard take(2...2, 0...59, { _, number in minutes = number }) else { return false }
            offsetMinutes = (sign == "-" ? -1 : 1) * (hours * 60 + minutes)
            return true
        }

        /// The time; `nil` for a day that the month does not have.
        var time: BSONDatetime? {
            let isLeap = year % 4 == 0 && year % 100 != 0 || year % 400 == 0
            let lengths = [31, isLeap ? 29 : 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31]
            guard day <= lengths[month - 1] else { return nil }
            // Source: "chrono-Compatible Low-Level Date Algorithms", days_from_civil.
            let shifted = month <= 2 ? year - 1 : year
            let era = (shifted >= 0 ? shifted : shifted - 399) / 400
            let yearOfEra = shifted - era * 400
            let dayOfYear = (153 * ((month + 9) % 12) + 2) / 5 + day - 1
            let days =
                era * 146_097 + yearOfEra * 365 + yearOfEra / 4 - yearOfEra / 100 + dayOfYear
                - 719_468
            let hours = hour + (isAfternoon == true && hour < 12 ? 12 : 0)
            let minutes = (days * 24 + hours) * 60 + minute - offsetMinutes
            return BSONDatetime(
                milliseconds: Int64((minutes * 60 + second) * 1_000 + milliseconds))
        }
    }
}
