import BSONQuery
#if canImport(Darwin)
    internal import Darwin
#else
    internal import Glibc
#endif

/// The functions of names of the language, such as `Math.floor` and `Object.keys`.
struct ScriptGlobalMethods {
    let interpreter: ScriptInterpreter

    /// Calls a function of a global; `nil` if it has none of that name.
    func invoke(
        _ name: String, of global: ScriptGlobal, _ arguments: [ScriptValue]
    ) throws(ScriptFailure) -> ScriptValue? {
        let first = arguments.first ?? .undefined
        switch (global, name) {
        case (.math, _): return Self.math(name, arguments.map(\.number))
        case (.json, "stringify"):
            let text = try ScriptJSON(interpreter: interpreter).text(of: first)
            return text == "undefined" ? .undefined : .string(text)
        case (.json, "parse"): return try ScriptJSON(interpreter: interpreter).value(of: first.text)
        case (.object, "keys"), (.object, "values"), (.object, "entries"):
            return try list(name, first)
        case (.object, "assign"):
            if let target = first.object { try interpreter.change(target) }
            for source in arguments.dropFirst() {
                for name in source.object?.ownNames ?? [] {
                    try interpreter.charge(48)
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
        case (.number, "parseInt"):
            return try ScriptGlobalCalls(interpreter: interpreter).call(.parseInt, arguments)
        case (.number, "parseFloat"):
            return try ScriptGlobalCalls(interpreter: interpreter).call(.parseFloat, arguments)
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
            throw interpreter.fail("TypeError", "can't convert \(value.text) to object")
        }
        if name == "from" {
            if case .string(let text) = value {
                try interpreter.charge(32 * text.utf8.count)
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
        try interpreter.charge(64 * parts.count)
        return .object(ScriptObject(elements: parts))
    }

    /// Calls a function that MongoDB adds to `Array`; `nil` if there is none of that name.
    ///
    /// Source: the server's `types.js`.
    private func shellFunction(
        _ name: String, _ arguments: [ScriptValue]
    ) throws(ScriptFailure) -> ScriptValue? {
        let elements = arguments.first?.object?.elements ?? []
        try interpreter.charge(16 * elements.count)
        switch name {
        case "sum": return try sum(elements)
        case "avg": return try average(elements).map { .number($0) } ?? .null
        case "stdDev":
            guard let mean = try average(elements) else { return .null }
            let squares = elements.reduce(0) { sum, element in
                sum + (element.number - mean) * (element.number - mean)
            }
            return .number((squares / Double(elements.count)).squareRoot())
        case "contains":
            let wanted = arguments.dropFirst().first ?? .undefined
            return .bool(elements.contains { ScriptValue.isEqual($0, wanted) })
        case "unique":
            var found: [ScriptValue] = []
            for element in elements {
                try interpreter.step(found.count)
                if !found.contains(where: { ScriptValue.isEqual($0, element) }) {
                    found.append(element)
                }
            }
            return .object(ScriptObject(elements: found))
        default: return nil
        }
    }

    /// Returns the result of `+` on all elements; null without any.
    private func sum(_ elements: [ScriptValue]) throws(ScriptFailure) -> ScriptValue {
        guard var sum = elements.first else { return .null }
        for element in elements.dropFirst() { sum = try interpreter.add(sum, element) }
        return sum
    }

    private func average(_ elements: [ScriptValue]) throws(ScriptFailure) -> Double? {
        elements.isEmpty ? nil : try sum(elements).number / Double(elements.count)
    }
}
