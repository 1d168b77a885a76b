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
        case (.bigInt, _):
            return try ScriptBigIntCalls(interpreter: interpreter).invoke(name, arguments)
        case (.math, _):
            try ScriptBigIntCalls(interpreter: interpreter).refuse(arguments)
            return Self.math(name, arguments.map(\.number))
        case (.json, "stringify"):
            return try stringify(first, Array(arguments.dropFirst()))
        case (.json, "parse"):
            let value = try ScriptJSONReader.value(
                of: try interpreter.text(first), interpreter)
            guard let function = arguments.dropFirst().first, function.object?.isCallable == true
            else { return value }
            let holder = ScriptObject()
            holder.set("", value)
            return try ScriptJSON(interpreter: interpreter).revived(
                value, "", of: .object(holder), by: function)
        case (.object, "keys"), (.object, "values"), (.object, "entries"):
            return try list(name, first)
        case (.object, "assign"):
            guard let target = first.object else { return first }
            try interpreter.change(target)
            for source in arguments.dropFirst() {
                try interpreter.copyProperties(of: source, to: target)
            }
            return first
        case (.array, "isArray"): return .bool(first.object?.isArray ?? false)
        case (.object, _): return try object(name, first, arguments)
        case (.promise, _):
            guard ScriptGlobal.promise.functions.contains(name) else { return nil }
            return try ScriptPromiseCalls(interpreter: interpreter).invoke(name, arguments)
        case (.long, "fromNumber"), (.long, "fromString"), (.long, "fromInt"):
            return try ScriptGlobalCalls(interpreter: interpreter).call(.long, [first])
        case (.decimal128, "fromString"):
            return try ScriptGlobalCalls(interpreter: interpreter).call(.decimal128, [first])
        case (.objectID, "createFromHexString"):
            return try ScriptGlobalCalls(interpreter: interpreter).call(.objectID, [first])
        case (.objectID, "isValid"):
            return .bool(
                first.object?.objectID != nil
                    || ScriptBSON.bytes(first.text)?.count == 12 && first.text.utf8.count == 24)
        case (.string, "fromCodePoint"):
            var text = ""
            for argument in arguments {
                guard let scalar = UInt32(exactly: argument.number).flatMap(Unicode.Scalar.init)
                else {
                    throw interpreter.fail("RangeError", "Invalid code point \(argument.text)")
                }
                text.unicodeScalars.append(scalar)
            }
            return .string(text)
        case (.array, "from"): return try list(first, arguments.dropFirst().first ?? .undefined)
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
        case "cbrt":
            let whole = cbrt(first).rounded()
            return .number(whole * whole * whole == first ? whole : cbrt(first))
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
        case "sinh": return .number(sinh(first))
        case "cosh": return .number(cosh(first))
        case "tanh": return .number(tanh(first))
        case "asinh": return .number(asinh(first))
        case "acosh": return .number(acosh(first))
        case "atanh": return .number(atanh(first))
        case "log1p": return .number(log1p(first))
        case "expm1": return .number(expm1(first))
        case "fround": return .number(Double(Float(first)))
        case "clz32":
            return .number(Double(ScriptValue.number(first).bits.leadingZeroBitCount))
        case "imul":
            let other = ScriptValue.number(numbers.count > 1 ? numbers[1] : .nan).bits
            return .number(Double(ScriptValue.number(first).bits &* other))
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
        let object = value.object
        var parts: [ScriptValue] = []
        var keys = object?.ownNames ?? []
        if case .host(let host) = object?.kind { keys = host.names + keys }
        if case .string(let text) = value { keys = (0..<text.utf16.count).map(String.init) }
        for key in keys {
            let field = try interpreter.property(.string(key), of: value)
            switch name {
            case "keys": parts.append(.string(key))
            case "values": parts.append(field)
            default: parts.append(.object(ScriptObject(elements: [.string(key), field])))
            }
        }
        try interpreter.charge(64 * parts.count)
        return .object(ScriptObject(elements: parts))
    }

    /// Returns the result of `Array.from`.
    private func list(
        _ source: ScriptValue, _ function: ScriptValue
    ) throws(ScriptFailure) -> ScriptValue {
        var parts: [ScriptValue] = []
        switch source.object?.kind {
        case nil, .array, .map, .set, .iterator, .host:
            if case .number = source { break }
            if case .bool = source { break }
            parts = try interpreter.items(of: source)
        default:
            let count = try interpreter.property(.string("length"), of: source).integer
            guard count <= 1_000_000 else {
                throw interpreter.fail("RangeError", "invalid array length")
            }
            try interpreter.charge(16 * max(0, count))
            for index in 0..<max(0, count) {
                parts.append(try interpreter.property(.number(Double(index)), of: source))
            }
        }
        if !function.isNothing {
            for index in parts.indices {
                parts[index] = try interpreter.call(
                    function, this: .undefined, [parts[index], .number(Double(index))])
            }
        }
        return .object(ScriptObject(elements: parts))
    }

    private func stringify(
        _ value: ScriptValue, _ arguments: [ScriptValue]
    ) throws(ScriptFailure) -> ScriptValue {
        var json = ScriptJSON(interpreter: interpreter)
        if let list = arguments.first?.object, list.isArray {
            json.names = Set(list.elements.map { Name($0.text) })
        } else if arguments.first?.object?.isCallable == true {
            json.replacer = arguments.first
        }
        switch arguments.dropFirst().first {
        case .number(let count)?:
            json.indent = String(
                repeating: " ", count: max(0, min(10, ScriptValue.number(count).integer)))
        case .string(let text)?: json.indent = String(text.prefix(10))
        default: break
        }
        return try json.text(of: value).map { .string($0) } ?? .undefined
    }

    /// Calls one of the rarer functions of `Object`; `nil` for a name that no function has.
    private func object(
        _ name: String, _ first: ScriptValue, _ arguments: [ScriptValue]
    ) throws(ScriptFailure) -> ScriptValue? {
        let second = arguments.dropFirst().first ?? .undefined
        switch name {
        case "freeze", "seal":
            first.object?.isFrozen = true
            return first
        case "bsonsize":
            let stored: BSONValue
            do throws(StoreError) {
                stored = try first.stored(keepsNumberTypes: interpreter.options.keepsNumberTypes)
            } catch {
                throw interpreter.fail(error)
            }
            return .number(Double(stored.documentValue?.byteCount ?? BSONWriter.count(stored)))
        case "groupBy":
            let groups = ScriptObject()
            try interpreter.change(groups)
            for item in try interpreter.items(of: first) {
                let key = try interpreter.call(second, this: .undefined, [item])
                let name = try interpreter.text(key)
                let list = groups.own(name)?.object ?? ScriptObject(elements: [])
                try interpreter.change(list)
                try interpreter.charge(16)
                list.elements.append(item)
                groups.set(name, .object(list))
            }
            return .object(groups)
        case "isFrozen": return .bool(first.object?.isFrozen ?? true)
        case "hasOwn": return .bool(first.object?.own(second.text) != nil)
        case "is":
            if case .number(let left) = first, case .number(let right) = second {
                return .bool(left.isNaN && right.isNaN || left == right && left.sign == right.sign)
            }
            return .bool(ScriptValue.isSame(first, second))
        case "getOwnPropertyNames": return try list("keys", first)
        case "create":
            try interpreter.charge(64)
            let made = ScriptObject()
            made.prototype = first.object
            try interpreter.change(made)
            return .object(made)
        case "getPrototypeOf":
            if let known = first.object?.prototype { return .object(known) }
            return ScriptGlobal.type(of: first).map { .object(ScriptObject(.prototype($0))) }
                ?? .null
        case "setPrototypeOf":
            var above = second.object
            while let here = above {
                guard here !== first.object else {
                    throw interpreter.fail("TypeError", "Cyclic __proto__ value")
                }
                above = here.prototype
            }
            if let target = first.object { try interpreter.change(target) }
            first.object?.prototype = second.object
            return first
        case "fromEntries":
            let made = ScriptObject()
            for pair in try interpreter.items(of: first) {
                let key = try interpreter.text(try interpreter.property(.number(0), of: pair))
                let value = try interpreter.property(.number(1), of: pair)
                try interpreter.set(key, of: made, to: value)
            }
            return .object(made)
        case "defineProperty":
            guard let target = first.object, let about = arguments.dropFirst(2).first else {
                return first
            }
            let getter = try interpreter.property(.string("get"), of: about)
            let setter = try interpreter.property(.string("set"), of: about)
            if getter.isNothing && setter.isNothing {
                try interpreter.change(target)
                let value = try interpreter.property(.string("value"), of: about)
                if try interpreter.property(.string("enumerable"), of: about).isTrue {
                    target.set(second.text, value)
                } else {
                    target.hide(second.text, value)
                }
            } else {
                try interpreter.define(
                    second.text, of: target, get: getter.isNothing ? nil : getter,
                    set: setter.isNothing ? nil : setter)
            }
            return first
        default: return nil
        }
    }

    /// Calls a function that MongoDB adds to `Array`; `nil` for a name that no function has.
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
