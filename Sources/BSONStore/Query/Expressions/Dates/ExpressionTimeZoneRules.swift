/// The offset changes of a time zone, read from its file.
///
/// Source: RFC 8536, "The Time Zone Information Format (TZif)".
struct ExpressionTimeZoneRules: Sendable {
    /// The maximum size of a file in bytes.
    static let bytesMax = 64 * 1024

    private var times: [Int] = []
    private var offsets: [Int] = []
    /// The offset before the first change.
    private var first = 0
    /// The rule after the last change.
    private var rest: ExpressionTimeZoneRule?

    /// Reads a file of version 2 or later; `nil` if it is malformed.
    init?(_ bytes: [UInt8]) {
        guard let old = Header(bytes, at: 0), old.version >= UInt8(ascii: "2"),
            let header = Header(bytes, at: 44 + old.size(timeBytes: 4))
        else { return nil }
        let start = 44 + old.size(timeBytes: 4) + 44
        let end = start + header.size(timeBytes: 8)
        guard header.types > 0, end <= bytes.count else { return nil }
        let indexes = start + header.times * 8
        let types = indexes + header.times
        func offset(_ type: Int) -> Int { Self.number(bytes, at: types + type * 6, count: 4) }
        first = offset(0)
        for index in 0..<header.times {
            let type = Int(bytes[indexes + index])
            guard type < header.types else { return nil }
            times.append(Self.number(bytes, at: start + index * 8, count: 8))
            offsets.append(offset(type))
        }
        guard zip(times, times.dropFirst()).allSatisfy({ $0 < $1 }) else { return nil }
        let footer = bytes[end...].dropFirst().prefix { $0 != 0x0A }
        rest = ExpressionTimeZoneRule(String(decoding: footer, as: UTF8.self))
    }

    /// Returns the offset at a time and when it began, `nil` if it always applied.
    func offset(at seconds: Int) -> (seconds: Int, since: Int?) {
        if let rest, seconds >= times.last ?? .min {
            let (offset, since) = rest.offset(at: seconds)
            // The rule's last change may be one that the file lists.
            guard let last = times.last else { return (offset, since) }
            return (offset, max(since ?? last, last))
        }
        var low = 0
        var high = times.count
        while low < high {
            let middle = (low + high) / 2
            if times[middle] <= seconds { low = middle + 1 } else { high = middle }
        }
        return low == 0 ? (first, nil) : (offsets[low - 1], times[low - 1])
    }

    private static func number(_ bytes: [UInt8], at offset: Int, count: Int) -> Int {
        var value: UInt64 = 0
        for byte in bytes[offset..<offset + count] { value = value << 8 | UInt64(byte) }
        return count == 4
            ? Int(Int32(bitPattern: UInt32(truncatingIfNeeded: value)))
            : Int(Int64(bitPattern: value))
    }

    /// The counts at the beginning of each of the two parts of a file.
    private struct Header {
        let version: UInt8
        let universal: Int
        let standard: Int
        let leaps: Int
        let times: Int
        let types: Int
        let characters: Int

        init?(_ bytes: [UInt8], at offset: Int) {
            guard offset + 44 <= bytes.count, bytes[offset..<offset + 4].elementsEqual("TZif".utf8)
            else { return nil }
            let counts = (0..<6).map {
                ExpressionTimeZoneRules.number(bytes, at: offset + 20 + $0 * 4, count: 4)
            }
            guard counts.allSatisfy({ (0...bytesMax).contains($0) }) else { return nil }
            version = bytes[offset + 4]
            (universal, standard, leaps) = (counts[0], counts[1], counts[2])
            (times, types, characters) = (counts[3], counts[4], counts[5])
        }

        func size(timeBytes: Int) -> Int {
            times * (timeBytes + 1) + types * 6 + characters + leaps * (timeBytes + 4) + standard
                + universal
        }
    }
}

/// The yearly offset changes of a time zone, without end.
///
/// Source: POSIX.1-2017, 8.3, environment variable TZ.
struct ExpressionTimeZoneRule: Sendable {
    private let standard: Int
    private var summer: (offset: Int, begins: Day, ends: Day)?

    /// The day and local time, in seconds, of a yearly change.
    private enum Day: Sendable {
        /// The week of a month, 5 for the last, and the weekday from Sunday as 0.
        case weekday(month: Int, week: Int, day: Int, time: Int)
        /// Day 1 to 365, without leap days.
        case fixed(day: Int, time: Int)
        /// Day 0 to 365, with leap days.
        case counted(day: Int, time: Int)
    }

    /// Reads a rule such as `CET-1CEST,M3.5.0,M10.5.0/3`; `nil` if it is malformed.
    init?(_ text: String) {
        var reader = Reader(text: Array(text.utf8))
        guard reader.skipName(), let west = reader.time() else { return nil }
        standard = -west
        guard !reader.isAtEnd else { return }
        guard reader.skipName() else { return nil }
        var offset = standard + 3_600
        if !reader.isNext(",") {
            guard let west = reader.time() else { return nil }
            offset = -west
        }
        guard let begins = reader.day(), let ends = reader.day(), reader.isAtEnd else { return nil }
        summer = (offset, begins, ends)
    }

    /// Returns the offset at a time and when it began, `nil` if it always applied.
    func offset(at seconds: Int) -> (Int, Int?) {
        guard let summer else { return (standard, nil) }
        let days = CalendarFields.quotient(seconds + standard, 86_400)
        let year = CalendarFields.year(ofDay: days)
        var last: (offset: Int, since: Int)?
        for year in year - 1...year + 1 {
            for (offset, time) in [
                (summer.offset, Self.time(of: summer.begins, year) - standard),
                (standard, Self.time(of: summer.ends, year) - summer.offset),
            ] where time <= seconds && time >= last?.since ?? .min {
                last = (offset, time)
            }
        }
        return (last?.offset ?? standard, last?.since)
    }

    private static func time(of day: Day, _ year: Int) -> Int {
        switch day {
        case .weekday(let month, let week, let day, let time):
            let first = ExtendedJSONDate.days(year, month, 1)
            let until = CalendarFields.remainder(day - (first + 4), 7)
            var chosen = until + (week - 1) * 7
            if chosen >= CalendarFields.length(ofMonth: month, year) { chosen -= 7 }
            return (first + chosen) * 86_400 + time
        case .fixed(let day, let time):
            let isLeap = CalendarFields.length(ofMonth: 2, year) == 29
            let days = day - 1 + (isLeap && day >= 60 ? 1 : 0)
            return (ExtendedJSONDate.days(year, 1, 1) + days) * 86_400 + time
        case .counted(let day, let time):
            return (ExtendedJSONDate.days(year, 1, 1) + day) * 86_400 + time
        }
    }

    private struct Reader {
        let text: [UInt8]
        var at = 0

        var isAtEnd: Bool { at == text.count }

        func isNext(_ character: Unicode.Scalar) -> Bool {
            at < text.count && text[at] == UInt8(ascii: character)
        }

        mutating func skip(_ character: Unicode.Scalar) -> Bool {
            guard isNext(character) else { return false }
            at += 1
            return true
        }

        mutating func skipName() -> Bool {
            let start = at
            if skip("<") {
                while at < text.count, !isNext(">") { at += 1 }
                return skip(">")
            }
            while at < text.count, (65...90).contains(text[at] & 0xDF) { at += 1 }
            return at - start >= 3
        }

        mutating func number() -> Int? {
            let start = at
            var value = 0
            while at < text.count, at - start < 4, ExtendedJSONCharacters.isDigit(text[at]) {
                value = value * 10 + Int(text[at] - UInt8(ascii: "0"))
                at += 1
            }
            return at > start ? value : nil
        }

        /// Reads `[+-]hh[:mm[:ss]]` as seconds.
        mutating func time() -> Int? {
            let isNegative = skip("-")
            if !isNegative { _ = skip("+") }
            guard let hours = number() else { return nil }
            var seconds = hours * 3_600
            for unit in [60, 1] where skip(":") {
                guard let value = number() else { return nil }
                seconds += value * unit
            }
            return isNegative ? -seconds : seconds
        }

        /// Reads a day behind a comma.
        mutating func day() -> Day? {
            guard skip(",") else { return nil }
            if skip("M") {
                guard let month = number(), skip("."), let week = number(), skip("."),
                    let day = number(), (1...12).contains(month), (1...5).contains(week), day < 7,
                    let time = timeOfDay()
                else { return nil }
                return .weekday(month: month, week: week, day: day, time: time)
            }
            let isFixed = skip("J")
            guard let day = number(), day <= 366, let time = timeOfDay() else { return nil }
            return isFixed ? .fixed(day: day, time: time) : .counted(day: day, time: time)
        }

        private mutating func timeOfDay() -> Int? { skip("/") ? time() : 7_200 }
    }
}
