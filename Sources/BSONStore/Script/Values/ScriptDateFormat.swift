import BSONQuery

/// The writing of times as people in the United States read them, mongosh's default locale.
///
/// Source: ECMA-402, "Intl.DateTimeFormat"; results as in Node 20.
struct ScriptDateFormat {
    /// The form of a part.
    enum Form: String, CaseIterable {
        case numeric
        case twoDigit = "2-digit"
        case long
        case short
        case narrow
    }

    /// The length of a date, a time or the name of a time zone that is named as a whole.
    enum Style: String, CaseIterable {
        case full
        case long
        case medium
        case short
    }

    /// The numbers of the hours of a day.
    enum Cycle: String, CaseIterable {
        /// 12, 1 to 11, twice.
        case h12
        /// 0 to 23.
        case h23
        /// 1 to 24.
        case h24
    }

    private var weekday: Form?
    private var year: Form?
    private var month: Form?
    private var day: Form?
    private var hour: Form?
    private var minute: Form?
    private var second: Form?
    private var fractionDigits = 0
    private var cycle = Cycle.h12
    private var zone = ScriptTimeZone.utc
    private var zoneName: Style?
    private var dateStyle: Style?
    private var timeStyle: Style?

    private static let weekdays = [
        "Sunday", "Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday",
    ]
    private static let months = [
        "January", "February", "March", "April", "May", "June", "July", "August", "September",
        "October", "November", "December",
    ]

    /// Reads the options of a method such as `toLocaleString`.
    ///
    /// - Parameter method: the method, which decides about the parts that are shown without options.
    /// - Throws: the `RangeError` or `TypeError` of an invalid option.
    init(_ options: ScriptLocaleOptions, for method: String) throws(ScriptFailure) {
        try options.refuse(["era", "dayPeriod", "calendar", "numberingSystem"])
        let texts = Form.allCases
        let numbers = [Form.numeric, .twoDigit]
        weekday = try Self.form("weekday", [.long, .short, .narrow], options)
        year = try Self.form("year", numbers, options)
        month = try Self.form("month", texts, options)
        day = try Self.form("day", numbers, options)
        hour = try Self.form("hour", numbers, options)
        minute = try Self.form("minute", numbers, options)
        second = try Self.form("second", numbers, options)
        fractionDigits = try options.integer("fractionalSecondDigits", 1...3) ?? 0
        cycle = try options.choice("hourCycle", Cycle.self) ?? .h12
        if let isTwelve = try options.flag("hour12") { cycle = isTwelve ? .h12 : .h24 }
        if let name = try options.text("timeZone") {
            guard let zone = ScriptTimeZone(name) else {
                throw options.fail("RangeError", "Invalid time zone specified: \(name)")
            }
            self.zone = zone
        }
        let names: [Style] = [.short, .long]
        zoneName = try options.word("timeZoneName", names.map(\.rawValue))
            .flatMap { Style(rawValue: $0) }
        dateStyle = try options.choice("dateStyle", Style.self)
        timeStyle = try options.choice("timeStyle", Style.self)
        if dateStyle != nil || timeStyle != nil {
            try takeStyles(options, method)
        } else {
            addUsual(method)
        }
        if zoneName == .long, zone.name(at: 0, isLong: true) == nil {
            throw options.fail(
                "RangeError",
                "the long name of the time zone is known for UTC and the zones of the United "
                    + "States only; use timeZoneName: 'short' or timeStyle: 'long'")
        }
    }

    private static func form(
        _ name: String, _ forms: [Form], _ options: ScriptLocaleOptions
    ) throws(ScriptFailure) -> Form? {
        try options.word(name, forms.map(\.rawValue)).flatMap { Form(rawValue: $0) }
    }

    private var hasDate: Bool { weekday != nil || year != nil || month != nil || day != nil }
    private var hasTime: Bool {
        hour != nil || minute != nil || second != nil || fractionDigits > 0
    }

    private mutating func takeStyles(
        _ options: ScriptLocaleOptions, _ method: String
    ) throws(ScriptFailure) {
        let wrong: (String, Bool) =
            switch method {
            case "toLocaleDateString": ("timeStyle", timeStyle != nil)
            case "toLocaleTimeString": ("dateStyle", dateStyle != nil)
            default: ("", false)
            }
        if wrong.1 { throw options.fail("TypeError", "Invalid option : \(wrong.0)") }
        guard !hasDate, !hasTime, zoneName == nil else {
            throw options.fail(
                "TypeError",
                "Can't set an option of a part when \(dateStyle != nil ? "dateStyle" : "timeStyle")"
                    + " is used")
        }
        if let dateStyle {
            weekday = dateStyle == .full ? .long : nil
            year = dateStyle == .short ? .twoDigit : .numeric
            month = dateStyle == .short ? .numeric : dateStyle == .medium ? .short : .long
            day = .numeric
        }
        if let timeStyle {
            (hour, minute) = (.numeric, .twoDigit)
            second = timeStyle == .short ? nil : .twoDigit
            zoneName = timeStyle == .full ? .long : timeStyle == .long ? .short : nil
        }
    }

    /// Adds the parts that a method shows without options.
    private mutating func addUsual(_ method: String) {
        let addsDate: Bool
        let addsTime: Bool
        switch method {
        case "toLocaleDateString": (addsDate, addsTime) = (!hasDate, false)
        case "toLocaleTimeString": (addsDate, addsTime) = (false, !hasTime)
        default: (addsDate, addsTime) = (!hasDate && !hasTime, !hasDate && !hasTime)
        }
        if addsDate { (year, month, day) = (.numeric, .numeric, .numeric) }
        if addsTime { (hour, minute, second) = (.numeric, .twoDigit, .twoDigit) }
    }

    // MARK: Writing

    /// Returns the text of a time in milliseconds since 1970; `nil` for an invalid time.
    func text(_ time: Double) -> String? {
        guard ScriptDate.calendar(time) != nil else { return nil }
        let milliseconds = Int64(time.rounded(.down))
        let parts = CalendarFields(milliseconds: zone.local(milliseconds))
        var text = date(parts)
        if hasTime { text += (text.isEmpty ? "" : joint) + clock(parts) }
        if let zoneName, let name = zone.name(at: milliseconds, isLong: zoneName == .long) {
            text += (text.isEmpty ? "" : hasTime ? " " : ", ") + name
        }
        return text
    }

    /// The text between the date and the time.
    private var joint: String {
        if month == .long { return " at " }
        return year == nil && month == nil && day == nil ? " " : ", "
    }

    private func date(_ parts: CalendarFields) -> String {
        let weekdayText = weekday.map { Self.name(Self.weekdays[parts.weekday - 1], $0) }
        let dayText = day.map { Self.digits(parts.day, $0) }
        let yearText = year.map {
            $0 == .twoDigit ? Self.digits(parts.year % 100, .twoDigit) : String(parts.year)
        }
        guard let month else {
            if let weekdayText, yearText == nil {
                return dayText.map { "\($0) \(weekdayText)" } ?? weekdayText
            }
            if let yearText, let dayText { return "\(yearText) (day: \(dayText))" }
            return [weekdayText, yearText, dayText].compactMap(\.self).joined(separator: ", ")
        }
        var text: String
        switch month {
        case .numeric, .twoDigit:
            text = [Self.digits(parts.month, month), dayText, yearText].compactMap(\.self)
                .joined(separator: "/")
        case .long, .short, .narrow:
            text = Self.name(Self.months[parts.month - 1], month)
            if let dayText { text += " \(dayText)" }
            if let yearText { text += (dayText == nil ? " " : ", ") + yearText }
        }
        return weekdayText.map { "\($0), \(text)" } ?? text
    }

    private func clock(_ parts: CalendarFields) -> String {
        var numbers: [String] = []
        if let hour { numbers.append(Self.digits(number(ofHour: parts.hour), form(ofHour: hour))) }
        // Alone, both are written without a zero.
        if minute != nil {
            let isAlone = hour == nil && second == nil
            numbers.append(Self.digits(parts.minute, isAlone ? .numeric : .twoDigit))
        }
        if second != nil || fractionDigits > 0 {
            let isAlone = hour == nil && minute == nil
            var text = Self.digits(parts.second, isAlone ? .numeric : .twoDigit)
            if fractionDigits > 0 {
                let padded = String(String(parts.millisecond + 1_000).dropFirst())
                text += "." + padded.prefix(fractionDigits)
            }
            numbers.append(text)
        }
        let text = numbers.joined(separator: ":")
        return hour != nil && cycle == .h12 ? text + (parts.hour < 12 ? " AM" : " PM") : text
    }

    private func number(ofHour hour: Int) -> Int {
        switch cycle {
        case .h12: hour % 12 == 0 ? 12 : hour % 12
        case .h23: hour
        case .h24: hour == 0 ? 24 : hour
        }
    }

    private func form(ofHour form: Form) -> Form { cycle == .h12 ? form : .twoDigit }

    private static func name(_ name: String, _ form: Form) -> String {
        switch form {
        case .long, .numeric, .twoDigit: name
        case .short: String(name.prefix(3))
        case .narrow: String(name.prefix(1))
        }
    }

    private static func digits(_ number: Int, _ form: Form) -> String {
        form == .twoDigit && number < 10 ? "0\(number)" : String(number)
    }
}
