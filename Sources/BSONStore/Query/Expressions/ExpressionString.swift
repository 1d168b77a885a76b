/// The computations of operators on texts.
enum ExpressionString {
    /// The characters that `$trim` removes by default.
    ///
    /// Source: MongoDB manual, "$trim", "Whitespace Characters".
    static let spaces =
        "\u{0}\u{20}\u{9}\u{A}\u{B}\u{C}\u{D}\u{A0}\u{1680}\u{2000}\u{2001}\u{2002}\u{2003}\u{2004}"
        + "\u{2005}\u{2006}\u{2007}\u{2008}\u{2009}\u{200A}"

    /// Converts a value to text for operators that accept more than strings.
    ///
    /// - Throws: 16007 for a type that cannot be converted.
    static func coerce(_ value: BSONValue?) throws(StoreError) -> String {
        switch value {
        case nil, .null, .undefined: return ""
        case .double(let number): return ExpressionText.number(number)
        case .int32(let number): return String(number)
        case .int64(let number): return String(number)
        case .decimal128(let number): return number.description
        case .string(let text), .javascript(let text), .symbol(let text): return text
        case .timestamp(let time): return text(of: time)
        case .datetime(let date):
            return try ExpressionDateFormat.text(
                ExpressionDateFormat.isoFormat, date.milliseconds, .utc)
        default:
            throw .location(
                16007, "can't convert from BSON type \(ExpressionText.type(of: value)) to String")
        }
    }

    private static func text(of time: BSONTimestamp) -> String {
        let date = CalendarFields(milliseconds: Int64(time.seconds) * 1_000)
        let day = ExpressionDateFormat.padded(date.day, 2, with: " ")
        let clock = [date.hour, date.minute, date.second]
            .map { ExpressionDateFormat.padded($0, 2) }.joined(separator: ":")
        let month = ExpressionDateFormat.months[date.month - 1].prefix(3)
        return "\(month) \(day) \(clock):\(time.increment)"
    }

    /// Returns the text with its ASCII letters in lower case.
    static func lower(_ text: String) -> String {
        mapped(text) { (65...90).contains($0) ? $0 + 32 : $0 }
    }

    /// Returns the text with its ASCII letters in upper case.
    static func upper(_ text: String) -> String {
        mapped(text) { (97...122).contains($0) ? $0 - 32 : $0 }
    }

    private static func mapped(_ text: String, _ map: (UInt8) -> UInt8) -> String {
        String(decoding: text.utf8.map(map), as: UTF8.self)
    }

    /// Returns the position of one text in another between two bounds, in bytes or code points; -1
    /// if there is none.
    static func index(
        _ name: String, _ arguments: [BSONValue?], _ code: Int32, isBytes: Bool
    ) throws(StoreError) -> BSONValue {
        if NumberCoercion.isNullish(arguments[0]) { return .null }
        guard case .string(let text) = arguments[0] else {
            throw .location(
                code,
                "\(name) requires a string as the first argument, found: "
                    + ExpressionText.type(of: arguments[0]))
        }
        guard case .string(let token) = arguments[1] else {
            throw .location(
                code + 1,
                "\(name) requires a string as the second argument, found: "
                    + ExpressionText.type(of: arguments[1]))
        }
        let bytes = Array(text.utf8)
        // The offset of each position, and one for the end.
        let places =
            isBytes
            ? Array(0...bytes.count)
            : bytes.indices.filter { bytes[$0] & 0xC0 != 0x80 } + [bytes.count]
        let count = places.count - 1
        let (start, end) = try ExpressionArray.bounds(name, arguments, count: count)
        guard start <= count, start <= end else { return .int32(-1) }
        let wanted = Array(token.utf8)
        guard !wanted.isEmpty else {
            return .int32(isBytes || start < end || bytes.isEmpty ? Int32(clamping: start) : -1)
        }
        let found = bytes.withUnsafeBytes {
            ByteSearch(for: wanted).first(in: $0, from: places[start])
        }
        try WorkBudget.check()
        guard let found else { return .int32(-1) }
        // In bytes, a found text must end before the bound; in code points, it must begin before
        // it.
        guard !isBytes else {
            return .int32(found + wanted.count <= end ? Int32(clamping: found) : -1)
        }
        let place = bytes[..<found].count { $0 & 0xC0 != 0x80 }
        return .int32(place < end ? Int32(clamping: place) : -1)
    }

    /// Returns the parts of a text between separators.
    static func split(_ text: BSONValue?, _ separator: BSONValue?) throws(StoreError) -> BSONValue {
        if NumberCoercion.isNullish(text) || NumberCoercion.isNullish(separator) {
            return .null
        }
        func notText(_ code: Int32, _ which: String, _ value: BSONValue?) -> StoreError {
            .location(
                code,
                "$split requires an expression that evaluates to a string as a \(which) argument, "
                    + "found: \(ExpressionText.type(of: value))")
        }
        guard case .string(let text) = text else { throw notText(40085, "first", text) }
        guard case .string(let separator) = separator else {
            throw notText(10_503_900, "second", separator)
        }
        guard !separator.isEmpty else {
            throw .location(40087, "$split requires a non-empty separator")
        }
        return try ExpressionLimits.array(
            try parts(text, separator).map { .string($0) })
    }

    /// Returns the parts of a text between occurrences of another that is not empty.
    private static func parts(
        _ text: String, _ separator: String, limit: Int = .max
    ) throws(StoreError) -> [String] {
        let bytes = Array(text.utf8)
        let search = ByteSearch(for: Array(separator.utf8))
        var parts: [String] = []
        var start = 0
        while parts.count < limit {
            try WorkBudget.spend()
            let from = start
            guard let at = bytes.withUnsafeBytes({ search.first(in: $0, from: from) }) else {
                break
            }
            parts.append(String(decoding: bytes[start..<at], as: UTF8.self))
            start = at + separator.utf8.count
        }
        try WorkBudget.check()
        return parts + [String(decoding: bytes[start...], as: UTF8.self)]
    }

    /// Returns the text with the first or all occurrences of another replaced.
    ///
    /// - Throws: 16493 if the result is too long.
    static func replacing(
        _ text: String, _ find: String, _ replacement: String, all: Bool
    ) throws(StoreError) -> String {
        var parts = try find.isEmpty ? ["", text] : parts(text, find, limit: all ? .max : 1)
        // The empty text occurs before, between and behind all characters.
        if find.isEmpty, all { parts = [""] + text.unicodeScalars.map { String($0) } + [""] }
        let growth = replacement.utf8.count - find.utf8.count
        try ExpressionLimits.checkText(text.utf8.count + (parts.count - 1) * growth)
        return parts.joined(separator: replacement)
    }
}
