import BSONQuery

/// The calls of names of the language, such as `Number(…)` and `new Date(…)`.
struct ScriptGlobalCalls {
    let interpreter: ScriptInterpreter

    /// Calls a function of the language directly.
    func call(
        _ global: ScriptGlobal, _ arguments: [ScriptValue]
    ) throws(ScriptFailure) -> ScriptValue {
        let first = arguments.first ?? .undefined
        switch global {
        case .string: return .string(arguments.isEmpty ? "" : first.text)
        case .number, .numberLong, .numberInt: return .number(arguments.isEmpty ? 0 : first.number)
        case .boolean: return .bool(first.isTrue)
        case .date: return .string(ScriptDate.text(ScriptDate.now) ?? "")
        case .parseInt: return .number(ScriptString.whole(first.text, arguments))
        case .parseFloat: return .number(ScriptString.leadingNumber(first.text))
        case .isNaN: return .bool(first.number.isNaN)
        case .isFinite: return .bool(first.number.isFinite)
        case .sleep:
            try interpreter.pause(milliseconds: first.number)
            return .null
        case .emit:
            try interpreter.emit(arguments)
            return .undefined
        // The output of a server's scripts is never read.
        case .print: return .undefined
        case .toJSON, .toJSONOneLine:
            return .string(try ScriptJSON(interpreter: interpreter).text(of: first))
        case .assert:
            guard first.isTrue else {
                throw interpreter.fail(
                    "Error", arguments.count > 1 ? arguments[1].text : "assert failed")
            }
            return .undefined
        case .math, .json:
            throw interpreter.fail("TypeError", "\(global.rawValue) is not a function")
        default: return try make(global, arguments)
        }
    }

    /// Creates an object with `new`.
    func make(_ callee: ScriptValue, _ arguments: [ScriptValue]) throws(ScriptFailure)
        -> ScriptValue
    {
        try interpreter.charge(64)
        switch callee.object?.kind {
        case .function(let function, let scope, _) where !function.isArrow:
            let object = ScriptValue.object(ScriptObject())
            let result = try interpreter.call(function, in: scope, this: object, arguments)
            return result.object == nil ? object : result
        case .global(let global) where global.isCallable: return try make(global, arguments)
        default: throw interpreter.fail("TypeError", "value is not a constructor")
        }
    }

    private func make(
        _ global: ScriptGlobal, _ arguments: [ScriptValue]
    ) throws(ScriptFailure) -> ScriptValue {
        let first = arguments.first ?? .undefined
        switch global {
        case .date, .isoDate: return .object(ScriptObject(.date(try time(arguments, global))))
        case .array:
            if arguments.count == 1, case .number(let count) = first {
                guard let count = Int(exactly: count), 0...1_000_000 ~= count else {
                    throw interpreter.fail("RangeError", "invalid array length")
                }
                try interpreter.charge(16 * count)
                return .object(
                    ScriptObject(elements: Array(repeating: .undefined, count: count)))
            }
            return .object(ScriptObject(elements: arguments))
        case .object: return first.object == nil ? .object(ScriptObject()) : first
        case .regExp:
            if case .pattern(let pattern) = first.object?.kind {
                return try interpreter.pattern(
                    pattern.source, arguments.count > 1 ? arguments[1].text : pattern.flags)
            }
            return try interpreter.pattern(first.text, arguments.count > 1 ? arguments[1].text : "")
        case .error, .typeError, .rangeError, .syntaxError, .referenceError:
            return .error(global.rawValue, arguments.isEmpty ? "" : first.text)
        case .objectID: return try objectID(arguments)
        case .numberDecimal:
            do throws(BSONError) {
                let decimal = try BSONDecimal128(arguments.isEmpty ? "0" : first.text)
                return .object(ScriptObject(.bson(.decimal128(decimal))))
            } catch {
                throw interpreter.fail("Error", "Input is not a valid Decimal128 value.")
            }
        case .function: throw interpreter.fail("Error", "functions are not made of texts here")
        case .math, .json:
            throw interpreter.fail("TypeError", "\(global.rawValue) is not a constructor")
        default: return try call(global, arguments)
        }
    }

    private func objectID(_ arguments: [ScriptValue]) throws(ScriptFailure) -> ScriptValue {
        guard let given = arguments.first else {
            return .object(ScriptObject(.bson(.objectID(BSONObjectID()))))
        }
        if let known = given.object?.objectID {
            return .object(ScriptObject(.bson(.objectID(known))))
        }
        do throws(BSONError) {
            let id = try BSONObjectID(given.text)
            return .object(ScriptObject(.bson(.objectID(id))))
        } catch {
            throw interpreter.fail("Error", "Invalid object id: length")
        }
    }

    /// Returns the time that the arguments of `Date` stand for.
    private func time(
        _ arguments: [ScriptValue], _ global: ScriptGlobal
    ) throws(ScriptFailure) -> Double {
        guard let first = arguments.first else { return ScriptDate.now }
        if arguments.count > 1 { return ScriptDate.time(arguments.map(\.number)) }
        if case .date(let time) = first.object?.kind { return time }
        if case .string(let text) = first {
            let time = ScriptDate.time(text)
            if global == .isoDate, time.isNaN {
                throw interpreter.fail("Error", "invalid ISO date: \(text)")
            }
            return time
        }
        return first.number.rounded(.towardZero)
    }
}
