import BSONQuery
#if canImport(Darwin)
    internal import Darwin
#else
    internal import Glibc
#endif

extension ScriptInterpreter {
    /// Calls a function of a global; `nil` if it has none of that name.
    func invoke(
        _ name: String, of global: ScriptGlobal, _ arguments: [ScriptValue]
    ) throws(ScriptFailure) -> ScriptValue? {
        let first = arguments.first ?? .undefined
        switch (global, name) {
        case (.math, _): return Self.math(name, arguments.map(\.number))
        case (.json, "stringify"):
            let text = try json(first)
            return text == "undefined" ? .undefined : .string(text)
        case (.json, "parse"): return try parsed(first.text)
        case (.object, "keys"), (.object, "values"), (.object, "entries"):
            return try list(name, first)
        case (.object, "assign"):
            if let target = first.object { try change(target) }
            for source in arguments.dropFirst() {
                for name in source.object?.ownNames ?? [] {
                    try charge(48)
                    first.object?.set(name, source.object?.own(name) ?? .undefined)
                }
            }
            return first
        case (.array, "isArray"): return .bool(first.object?.isArray ?? false)
        case (.array, "from"): return try list("from", first)
        case (.array, "of"): return .object(ScriptObject(elements: arguments))
        case (.array, _): return try shellFunction(name, arguments)
        case (.date, "now"): return .number(ScriptDate.now)
        case (.date, "parse"): return .number(ScriptDate.time(first.text))
        case (.date, "UTC"): return .number(ScriptDate.time(arguments.map(\.number)))
        case (.number, "parseInt"): return try call(.parseInt, arguments)
        case (.number, "parseFloat"): return try call(.parseFloat, arguments)
        case (.number, "isInteger"), (.number, "isSafeInteger"), (.number, "isFinite"),
            (.number, "isNaN"):
            guard case .number(let number) = first else { return .bool(false) }
            return .bool(Self.is(name, number))
        case (.string, "fromCharCode"):
            let units = arguments.map { UInt16(truncatingIfNeeded: $0.bits) }
            return .string(ScriptString.string(units))
        default: return nil
        }
    }

    private static func `is`(_ name: String, _ number: Double) -> Bool {
        switch name {
        case "isNaN": number.isNaN
        case "isFinite": number.isFinite
        case "isInteger": number.isFinite && number == number.rounded()
        default: number == number.rounded() && abs(number) <= 9_007_199_254_740_991
        }
    }

    private static func math(_ name: String, _ numbers: [Double]) -> ScriptValue? {
        let first = numbers.first ?? .nan
        switch name {
        case "abs": return .number(abs(first))
        case "floor": return .number(first.rounded(.down))
        case "ceil": return .number(first.rounded(.up))
        case "trunc": return .number(first.rounded(.towardZero))
        case "round": return .number((first + 0.5).rounded(.down))
        case "sqrt": return .number(first.squareRoot())
        case "cbrt": return .number(cbrt(first))
        case "exp": return .number(exp(first))
        case "log": return .number(log(first))
        case "log2": return .number(log2(first))
        case "log10": return .number(log10(first))
        case "sin": return .number(sin(first))
        case "cos": return .number(cos(first))
        case "tan": return .number(tan(first))
        case "asin": return .number(asin(first))
        case "acos": return .number(acos(first))
        case "atan": return .number(atan(first))
        case "atan2": return .number(atan2(first, numbers.count > 1 ? numbers[1] : .nan))
        case "pow": return .number(pow(first, numbers.count > 1 ? numbers[1] : .nan))
        case "sign": return .number(first.isNaN || first == 0 ? first : first < 0 ? -1 : 1)
        case "hypot": return .number(numbers.reduce(0) { $0 + $1 * $1 }.squareRoot())
        case "random": return .number(.random(in: 0..<1))
        case "max":
            return .number(numbers.contains(where: \.isNaN) ? .nan : numbers.max() ?? -.infinity)
        case "min":
            return .number(numbers.contains(where: \.isNaN) ? .nan : numbers.min() ?? .infinity)
        default: return nil
        }
    }

    /// Returns the properties of an object, or the parts of a text, as an array.
    private func list(_ name: String, _ value: ScriptValue) throws(ScriptFailure) -> ScriptValue {
        guard !value.isNothing else {
            throw fail("TypeError", "can't convert \(value.text) to object")
        }
        if name == "from" {
            if case .string(let text) = value {
                try charge(32 * text.utf8.count)
                let parts = text.unicodeScalars.map { ScriptValue.string(String($0)) }
                return .object(ScriptObject(elements: parts))
            }
            return .object(ScriptObject(elements: value.object?.elements ?? []))
        }
        let object = value.object
        var parts: [ScriptValue] = []
        for key in object?.ownNames ?? [] {
            let field = object?.own(key) ?? .undefined
            switch name {
            case "keys": parts.append(.string(key))
            case "values": parts.append(field)
            default: parts.append(.object(ScriptObject(elements: [.string(key), field])))
            }
        }
        try charge(64 * parts.count)
        return .object(ScriptObject(elements: parts))
    }

    private func parsed(_ text: String) throws(ScriptFailure) -> ScriptValue {
        try charge(4 * text.utf8.count)
        do throws(BSONError) {
            let value = try BSONDocument(extendedJSON: "{\"\": \(text)}")[""]
            return value.map { ScriptValue($0) } ?? .undefined
        } catch {
            throw fail("SyntaxError", "JSON.parse: unexpected character")
        }
    }
}

extension ScriptDate {
    private static let parts: Set<String> = [
        "Date", "Day", "FullYear", "Hours", "Milliseconds", "Minutes", "Month", "Seconds",
    ]
    private static let others: Set<String> = [
        "getTime", "getTimezoneOffset", "toISOString", "toJSON",
    ]

    static func hasMethod(_ name: String) -> Bool {
        if others.contains(name) { return true }
        return part(name) != nil
    }

    /// Returns the part of a time that a method such as `getUTCHours` reads.
    private static func part(_ name: String) -> String? {
        let name =
            name.hasPrefix("getUTC")
            ? name.dropFirst(6) : name.hasPrefix("get") ? name.dropFirst(3) : ""
        return parts.contains(String(name)) ? String(name) : nil
    }

    /// Calls a method of a time; `nil` if it has none of that name.
    static func invoke(_ name: String, _ time: Double) -> ScriptValue? {
        switch name {
        case "getTime": return .number(time)
        case "getTimezoneOffset": return .number(0)
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

extension ScriptNumber {
    /// Returns a number with a number of digits behind the point.
    static func fixed(_ number: Double, digits: Int) -> String {
        formatted("%.\(digits)f", number)
    }

    /// Returns a number with a total number of digits.
    static func precise(_ number: Double, digits: Int) -> String {
        guard number != 0 else {
            return digits > 1 ? "0." + String(repeating: "0", count: digits - 1) : "0"
        }
        let exponent = Int(log10(abs(number)).rounded(.down))
        guard -7...digits - 1 ~= exponent else {
            return formatted("%.\(digits - 1)e", number)
        }
        return formatted("%.\(max(0, digits - 1 - exponent))f", number)
    }

    private static func formatted(_ format: String, _ number: Double) -> String {
        var buffer = [CChar](repeating: 0, count: 512)
        let count = withVaList([number]) { vsnprintf(&buffer, buffer.count, format, $0) }
        return String(decoding: buffer.prefix(max(0, Int(count))).map(UInt8.init), as: UTF8.self)
    }
}
