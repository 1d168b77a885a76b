import BSONQuery

/// The parsing and formatting of times in scripts, always in UTC.
enum ScriptDate {
    private static let dayMS = 86_400_000.0
    private static let weekdays = ["Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"]
    private static let months = [
        "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec",
    ]

    /// The current time, in milliseconds since 1970.
    static var now: Double { Double(BSONDatetime.now.milliseconds) }

    /// Returns the parts of a time; `nil` for an invalid time.
    static func calendar(_ time: Double) -> CalendarFields? {
        guard abs(time) <= 8.64e15 else { return nil }
        return CalendarFields(milliseconds: Int64(time.rounded(.towardZero)))
    }

    /// Returns a time as `toString` writes it.
    static func text(_ time: Double) -> String? {
        guard let parts = calendar(time) else { return nil }
        return "\(weekdays[parts.weekday - 1]) \(months[parts.month - 1]) "
            + "\(padded(parts.day, 2)) \(padded(parts.year, 4)) \(padded(parts.hour, 2)):"
            + "\(padded(parts.minute, 2)):\(padded(parts.second, 2)) GMT+0000 (UTC)"
    }

    /// Returns a time as `toISOString` writes it.
    static func isoText(_ time: Double) -> String? {
        guard let parts = calendar(time) else { return nil }
        return "\(padded(parts.year, 4))-\(padded(parts.month, 2))-\(padded(parts.day, 2))T"
            + "\(padded(parts.hour, 2)):\(padded(parts.minute, 2)):\(padded(parts.second, 2))."
            + "\(padded(parts.millisecond, 3))Z"
    }

    private static func padded(_ number: Int, _ count: Int) -> String {
        let digits = String(abs(number))
        return (number < 0 ? "-" : "")
            + String(repeating: "0", count: max(0, count - digits.count)) + digits
    }

    /// Returns the time of a year, a month from 0 on, and optional further parts.
    static func time(_ parts: [Double]) -> Double {
        guard parts.allSatisfy(\.isFinite), parts.allSatisfy({ abs($0) < 1e8 }) else { return .nan }
        func part(_ index: Int, _ usual: Int) -> Int {
            index < parts.count ? Int(parts[index].rounded(.towardZero)) : usual
        }
        let year = part(0, 1970)
        let months = part(1, 0)
        let (years, month) = months.quotientAndRemainder(dividingBy: 12)
        let isNegative = month < 0
        let days = ExtendedJSONDate.days(
            (0...99 ~= year ? 1900 + year : year) + years - (isNegative ? 1 : 0),
            (isNegative ? month + 12 : month) + 1, 1)
        var time = Double(days + part(2, 1) - 1) * dayMS
        time += Double(part(3, 0)) * 3_600_000 + Double(part(4, 0)) * 60_000
        return time + Double(part(5, 0)) * 1_000 + Double(part(6, 0))
    }

    /// Parses a text in the form of ISO 8601; `NaN` for other texts.
    static func time(_ text: String) -> Double {
        var full = ScriptString.trimmed(text)
        if full.utf8.count == 4 { full += "-01" }
        if full.utf8.count == 7 { full += "-01" }
        if full.utf8.count == 10 { full += "T00:00:00Z" }
        if let position = full.firstIndex(of: " ") {
            full.replaceSubrange(position...position, with: "T")
        }
        let clock = full.drop { $0 != "T" }
        if clock.split(separator: ":").count == 2, !clock.contains("+") {
            // A time without seconds.
            let isZoned = full.hasByteSuffix("Z")
            full = (isZoned ? String(full.dropLast()) : full) + ":00Z"
        } else if !clock.hasByteSuffix("Z"), !clock.contains("+"), !clock.contains("-") {
            full += "Z"
        }
        let milliseconds = full.withUTF8 { ExtendedJSONDate.milliseconds($0) }
        return milliseconds.map(Double.init) ?? .nan
    }

    // MARK: Methods

    private static let parts: Set<String> = [
        "Date", "Day", "FullYear", "Hours", "Milliseconds", "Minutes", "Month", "Seconds",
    ]
    private static let otherMethods: Set<String> = [
        "getTime", "getTimezoneOffset", "setTime", "toDateString", "toISOString", "toJSON",
        "toLocaleDateString", "toLocaleString", "toLocaleTimeString", "toTimeString",
        "toUTCString",
    ]

    /// Whether dates have a method.
    static func hasMethod(_ name: String) -> Bool {
        if otherMethods.contains(name) { return true }
        return part(name) != nil || setters(name) != nil
    }

    /// Returns the part of a time that a method such as `getUTCHours` reads.
    private static func part(_ name: String) -> String? {
        let name =
            name.hasBytePrefix("getUTC")
            ? name.dropFirst(6) : name.hasBytePrefix("get") ? name.dropFirst(3) : ""
        return parts.contains(String(name)) ? String(name) : nil
    }

    /// Returns the first part that a method such as `setUTCHours` changes.
    private static func setters(_ name: String) -> Int? {
        guard name.hasBytePrefix("set") else { return nil }
        let part = name.hasBytePrefix("setUTC") ? name.dropFirst(6) : name.dropFirst(3)
        return ["FullYear", "Month", "Date", "Hours", "Minutes", "Seconds", "Milliseconds"]
            .firstIndex { $0.hasSameBytes(as: String(part)) }
    }

    /// Returns a time after a method that changes it; `nil` if the method is another one.
    static func changed(_ name: String, _ time: Double, _ arguments: [Double]) -> Double? {
        if name == "setTime" { return (arguments.first ?? .nan).rounded(.towardZero) }
        guard let first = setters(name) else { return nil }
        guard let now = calendar(time), !arguments.isEmpty else { return .nan }
        var parts = [
            now.year, now.month - 1, now.day, now.hour, now.minute, now.second, now.millisecond,
        ].map(Double.init)
        for (index, argument) in arguments.enumerated() where first + index < parts.count {
            parts[first + index] = argument
        }
        return self.time(parts)
    }

    /// Calls a method of a time; `nil` if it has none of that name.
    static func invoke(_ name: String, _ time: Double) -> ScriptValue? {
        switch name {
        case "getTime": return .number(time)
        case "getTimezoneOffset": return .number(0)
        case "toDateString":
            return .string(text(time).map { String($0.prefix(15)) } ?? "Invalid Date")
        case "toTimeString":
            return .string(text(time).map { String($0.dropFirst(16)) } ?? "Invalid Date")
        case "toUTCString":
            guard let parts = calendar(time) else { return .string("Invalid Date") }
            return .string(
                "\(weekdays[parts.weekday - 1]), \(padded(parts.day, 2)) "
                    + "\(months[parts.month - 1]) \(padded(parts.year, 4)) "
                    + "\(padded(parts.hour, 2)):\(padded(parts.minute, 2)):"
                    + "\(padded(parts.second, 2)) GMT")
        case "toISOString", "toJSON": return isoText(time).map { .string($0) } ?? .null
        default: break
        }
        guard let part = part(name) else { return nil }
        guard let calendar = calendar(time) else { return .number(.nan) }
        let number =
            switch part {
            case "FullYear": calendar.year
            case "Month": calendar.month - 1
            case "Date": calendar.day
            case "Day": calendar.weekday - 1
            case "Hours": calendar.hour
            case "Minutes": calendar.minute
            case "Seconds": calendar.second
            default: calendar.millisecond
            }
        return .number(Double(number))
    }
}
