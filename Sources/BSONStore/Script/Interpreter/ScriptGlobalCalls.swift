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
        case .string: return .string(arguments.isEmpty ? "" : try interpreter.text(first))
        case .numberLong, .numberInt, .long, .int32, .double:
            return try ScriptBSONCalls(interpreter: interpreter).number(global, arguments)
        case .number: return .number(arguments.isEmpty ? 0 : try interpreter.number(first))
        case .encodeURIComponent: return .string(ScriptString.percentEncoded(first.text))
        case .decodeURIComponent:
            guard let text = ScriptString.percentDecoded(first.text) else {
                throw interpreter.fail("URIError", "URI malformed")
            }
            return .string(text)
        case .structuredClone: return try clone(first)
        case .bigInt: return try ScriptBigIntCalls(interpreter: interpreter).make(first)
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
            return .string(
                try ScriptJSON(interpreter: interpreter).text(of: first) ?? "undefined")
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

    /// Creates a value with `new`.
    func make(
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
            let error = ScriptValue.error(
                global.rawValue, ScriptString.isUndefined(first) ? "" : first.text)
            if arguments.count > 1, let cause = arguments[1].object?.find("cause") {
                try error.object.map { (object) throws(ScriptFailure) in
                    try interpreter.change(object)
                    object.hide("cause", cause)
                }
            }
            return error
        case .objectID: return try objectID(arguments)
        case .symbol:
            interpreter.symbolCount += 1
            let description = arguments.isEmpty ? nil : try interpreter.text(first)
            return .host(ScriptSymbol(description, number: interpreter.symbolCount))
        case .map, .set: return try table(global, first)
        case .uuid, .binary, .binData, .hexData, .timestamp, .minKey, .maxKey, .dbRef, .code,
            .bsonSymbol, .bsonRegExp:
            return try ScriptBSONCalls(interpreter: interpreter).make(global, arguments)
        case .promise: return try ScriptPromiseCalls(interpreter: interpreter).make(first)
        case .numberDecimal, .decimal128:
            do throws(BSONError) {
                let decimal = try BSONDecimal128(arguments.isEmpty ? "0" : first.text)
                return interpreter.value(.decimal128(decimal))
            } catch {
                throw interpreter.fail("Error", "Input is not a valid Decimal128 value.")
            }
        case .bigInt:
            throw interpreter.fail("TypeError", "BigInt is not a constructor")
        case .function: throw interpreter.fail("Error", "functions are not made of texts here")
        case .math, .json:
            throw interpreter.fail("TypeError", "\(global.rawValue) is not a constructor")
        default: return try call(global, arguments)
        }
    }

    /// Makes a `Map` or `Set` from the items of a value.
    private func table(
        _ global: ScriptGlobal, _ source: ScriptValue
    ) throws(ScriptFailure) -> ScriptValue {
        let table = ScriptTable()
        let object = ScriptObject(global == .map ? .map(table) : .set(table))
        try interpreter.change(object)
        guard !source.isNothing else { return .object(object) }
        for item in try interpreter.items(of: source) {
            try interpreter.charge(96)
            if global == .set {
                table.set(item, item)
            } else {
                guard item.object != nil else {
                    throw interpreter.fail(
                        "TypeError", "Iterator value \(item.text) is not an entry object")
                }
                let key = try interpreter.property(.number(0), of: item)
                table.set(key, try interpreter.property(.number(1), of: item))
            }
        }
        return .object(object)
    }

    /// Returns a copy of a value and of all that it holds.
    private func clone(_ value: ScriptValue) throws(ScriptFailure) -> ScriptValue {
        guard let object = value.object else { return value }
        return try interpreter.deeper { () throws(ScriptFailure) in
            try interpreter.charge(64)
            switch object.kind {
            case .array:
                let copy = ScriptObject(elements: [])
                for element in object.elements {
                    try interpreter.charge(16)
                    copy.elements.append(try clone(element))
                }
                return .object(copy)
            case .plain:
                let copy = ScriptObject()
                for name in object.ownNames {
                    try interpreter.charge(48)
                    copy.set(name, try clone(try interpreter.property(.string(name), of: value)))
                }
                return .object(copy)
            case .date(let time): return .object(ScriptObject(.date(time)))
            case .map(let table): return .object(ScriptObject(.map(table.copy())))
            case .set(let table): return .object(ScriptObject(.set(table.copy())))
            default: return value
            }
        }
    }

    private func objectID(_ arguments: [ScriptValue]) throws(ScriptFailure) -> ScriptValue {
        guard let given = arguments.first else {
            return interpreter.value(.objectID(BSONObjectID()))
        }
        if let known = given.object?.objectID {
            return interpreter.value(.objectID(known))
        }
        do throws(BSONError) {
            let id = try BSONObjectID(given.text)
            return interpreter.value(.objectID(id))
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
