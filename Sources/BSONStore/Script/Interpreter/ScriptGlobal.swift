import BSONQuery

/// A name that scripts find outside of all functions.
enum ScriptGlobal: String, Sendable {
    case math = "Math"
    case json = "JSON"
    case object = "Object"
    case array = "Array"
    case string = "String"
    case number = "Number"
    case boolean = "Boolean"
    case date = "Date"
    case isoDate = "ISODate"
    case regExp = "RegExp"
    case function = "Function"
    case error = "Error"
    case typeError = "TypeError"
    case rangeError = "RangeError"
    case syntaxError = "SyntaxError"
    case referenceError = "ReferenceError"
    case objectID = "ObjectId"
    case numberLong = "NumberLong"
    case numberInt = "NumberInt"
    case numberDecimal = "NumberDecimal"
    case parseInt
    case parseFloat
    case isNaN
    case isFinite
    case sleep
    case print
    case toJSON = "tojson"
    case toJSONOneLine = "tojsononeline"
    case assert
    case emit

    var isCallable: Bool { self != .math && self != .json }

    /// Returns a constant of the global.
    func constant(_ name: String) -> ScriptValue? {
        switch (self, name) {
        case (.math, "PI"): .number(.pi)
        case (.math, "E"): .number(2.718281828459045)
        case (.math, "LN2"): .number(0.6931471805599453)
        case (.math, "LN10"): .number(2.302585092994046)
        case (.math, "LOG2E"): .number(1.4426950408889634)
        case (.math, "LOG10E"): .number(0.4342944819032518)
        case (.math, "SQRT2"): .number(2.0.squareRoot())
        case (.math, "SQRT1_2"): .number(0.5.squareRoot())
        case (.number, "MAX_SAFE_INTEGER"): .number(9_007_199_254_740_991)
        case (.number, "MIN_SAFE_INTEGER"): .number(-9_007_199_254_740_991)
        case (.number, "MAX_VALUE"): .number(.greatestFiniteMagnitude)
        case (.number, "MIN_VALUE"): .number(.leastNonzeroMagnitude)
        case (.number, "EPSILON"): .number(.ulpOfOne)
        case (.number, "NaN"): .number(.nan)
        case (.number, "POSITIVE_INFINITY"): .number(.infinity)
        case (.number, "NEGATIVE_INFINITY"): .number(-.infinity)
        default: nil
        }
    }
}

extension ScriptInterpreter {
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
            try pause(milliseconds: first.number)
            return .null
        case .emit:
            try emit(arguments)
            return .undefined
        // The output of a server's scripts is never read.
        case .print: return .undefined
        case .toJSON, .toJSONOneLine: return .string(try json(first))
        case .assert:
            guard first.isTrue else {
                throw fail("Error", arguments.count > 1 ? arguments[1].text : "assert failed")
            }
            return .undefined
        case .math, .json: throw fail("TypeError", "\(global.rawValue) is not a function")
        default: return try make(global, arguments)
        }
    }

    /// Creates an object with `new`.
    func make(_ callee: ScriptValue, _ arguments: [ScriptValue]) throws(ScriptFailure)
        -> ScriptValue
    {
        try charge(64)
        switch callee.object?.kind {
        case .function(let function, let scope, _) where !function.isArrow:
            let object = ScriptValue.object(ScriptObject())
            let result = try call(function, in: scope, this: object, arguments)
            return result.object == nil ? object : result
        case .global(let global) where global.isCallable: return try make(global, arguments)
        default: throw fail("TypeError", "value is not a constructor")
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
                    throw fail("RangeError", "invalid array length")
                }
                try charge(16 * count)
                return .object(
                    ScriptObject(elements: Array(repeating: .undefined, count: count)))
            }
            return .object(ScriptObject(elements: arguments))
        case .object: return first.object == nil ? .object(ScriptObject()) : first
        case .regExp:
            if case .pattern(let pattern) = first.object?.kind {
                return try self.pattern(
                    pattern.source, arguments.count > 1 ? arguments[1].text : pattern.flags)
            }
            return try pattern(first.text, arguments.count > 1 ? arguments[1].text : "")
        case .error, .typeError, .rangeError, .syntaxError, .referenceError:
            return .error(global.rawValue, arguments.isEmpty ? "" : first.text)
        case .objectID: return try objectID(arguments)
        case .numberDecimal:
            do throws(BSONError) {
                let decimal = try BSONDecimal128(arguments.isEmpty ? "0" : first.text)
                return .object(ScriptObject(.bson(.decimal128(decimal))))
            } catch {
                throw fail("Error", "Input is not a valid Decimal128 value.")
            }
        case .function: throw fail("Error", "functions are not made of texts here")
        case .math, .json: throw fail("TypeError", "\(global.rawValue) is not a constructor")
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
            throw fail("Error", "Invalid object id: length")
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
                throw fail("Error", "invalid ISO date: \(text)")
            }
            return time
        }
        return first.number.rounded(.towardZero)
    }

    /// Returns the value as `JSON.stringify` writes it.
    func json(_ value: ScriptValue, depth: Int = 0) throws(ScriptFailure) -> String {
        guard depth < 100 else { throw fail("TypeError", "cyclic object value") }
        try step()
        var text = ""
        switch value {
        case .undefined: text = "undefined"
        case .null: text = "null"
        case .bool(let value): text = value ? "true" : "false"
        case .number(let number): text = number.isFinite ? ScriptNumber.text(number) : "null"
        case .string(let string): text = BSONValue.string(string).extendedJSON(.relaxed)
        case .object(let object):
            switch object.kind {
            case .array:
                var parts: [String] = []
                for element in object.elements {
                    let part = try json(element, depth: depth + 1)
                    parts.append(part == "undefined" ? "null" : part)
                }
                text = "[\(parts.joined(separator: ","))]"
            case .date(let time):
                text = ScriptDate.isoText(time).map { "\"\($0)\"" } ?? "null"
            case .function, .method, .global: text = "undefined"
            case .bson(.objectID(let id)): text = "{\"$oid\":\"\(id.hex)\"}"
            case .bson(let value): text = value.extendedJSON(.relaxed)
            case .pattern: text = "{}"
            case .plain, .error:
                var parts: [String] = []
                for name in object.ownNames {
                    let part = try json(object.own(name) ?? .undefined, depth: depth + 1)
                    if part == "undefined" { continue }
                    parts.append(try json(.string(name), depth: depth + 1) + ":" + part)
                }
                text = "{\(parts.joined(separator: ","))}"
            }
        }
        try charge(text.utf8.count)
        return text
    }
}
