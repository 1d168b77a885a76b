import BSONQuery

/// The constructors and methods of the values of BSON.
struct ScriptBSONCalls {
    let interpreter: ScriptInterpreter

    /// Makes a number of a type; outside of MongoDB's shell it is an ordinary number.
    func number(
        _ global: ScriptGlobal, _ arguments: [ScriptValue]
    ) throws(ScriptFailure) -> ScriptValue {
        let first = arguments.first ?? .number(0)
        let number = try interpreter.number(first)
        guard interpreter.options.keepsNumberTypes else { return .number(number) }
        try interpreter.charge(64)
        switch global {
        case .double: return interpreter.value(.double(number))
        case .numberInt, .int32:
            guard !number.isNaN else {
                throw interpreter.fail("TypeError", "Int32: \(first.text) is not a number")
            }
            return interpreter.value(.int32(first.bits))
        default:
            if case .bson(.int64(let known)) = first.object?.kind {
                return interpreter.value(.int64(known))
            }
            if case .bigInt(let number) = first {
                return interpreter.value(.int64(number.lowest(64, isSigned: true).int64 ?? 0))
            }
            if case .string(let text) = first {
                guard let whole = Int64(ScriptString.trimmed(text)) else {
                    throw interpreter.fail("Error", "could not parse '\(text)' as a Long")
                }
                return interpreter.value(.int64(whole))
            }
            let whole = number.rounded(.towardZero)
            return interpreter.value(
                .int64(
                    number.isNaN ? 0 : Int64(exactly: whole) ?? (number < 0 ? .min : .max)))
        }
    }

    /// Makes another value.
    func make(
        _ global: ScriptGlobal, _ arguments: [ScriptValue]
    ) throws(ScriptFailure) -> ScriptValue {
        let first = arguments.first ?? .undefined
        let second = arguments.dropFirst().first ?? .undefined
        switch global {
        case .uuid:
            var bytes = (0..<16).map { _ in UInt8.random(in: 0...255) }
            bytes[6] = bytes[6] & 0x0F | 0x40
            bytes[8] = bytes[8] & 0x3F | 0x80
            if !first.isNothing {
                guard let given = ScriptBSON.bytes(first.text), given.count == 16 else {
                    throw interpreter.fail("Error", "UUID must be 16 bytes of hexadecimal digits")
                }
                bytes = given
            }
            return interpreter.value(.binary(BSONBinary(bytes, subtype: 4)))
        case .hexData:
            guard let bytes = ScriptBSON.bytes(second.text) else {
                throw interpreter.fail("Error", "invalid hexadecimal digits")
            }
            return interpreter.value(
                .binary(BSONBinary(bytes, subtype: UInt8(truncatingIfNeeded: first.integer))))
        case .binData: return try binary(second.text, subtype: first.integer)
        case .binary: return try binary(first.text, subtype: second.integer)
        case .timestamp:
            var (seconds, increment) = (first.number, second.number)
            if first.object != nil {
                seconds = try interpreter.property(.string("t"), of: first).number
                increment = try interpreter.property(.string("i"), of: first).number
            }
            return interpreter.value(
                .timestamp(
                    BSONTimestamp(
                        seconds: UInt32(exactly: seconds) ?? 0,
                        increment: UInt32(exactly: increment) ?? 0)))
        case .minKey: return interpreter.value(.minKey)
        case .maxKey: return interpreter.value(.maxKey)
        case .code:
            let code = try interpreter.text(first)
            guard second.object != nil else { return interpreter.value(.javascript(code)) }
            let scope: BSONValue
            do throws(StoreError) {
                scope = try second.stored(keepsNumberTypes: interpreter.options.keepsNumberTypes)
            } catch {
                throw interpreter.fail(error)
            }
            return interpreter.value(
                .javascriptWithScope(
                    BSONJavaScriptWithScope(code: code, scope: scope.documentValue ?? [:])))
        case .bsonSymbol: return interpreter.value(.symbol(first.text))
        case .bsonRegExp:
            return interpreter.value(
                .regularExpression(
                    BSONRegularExpression(
                        first.text, options: second.isNothing ? "" : second.text)))
        default:
            let reference = ScriptObject()
            reference.set("$ref", first)
            reference.set("$id", second)
            if arguments.count > 2 { reference.set("$db", arguments[2]) }
            return .object(reference)
        }
    }

    private func binary(
        _ base64: String, subtype: Int
    ) throws(ScriptFailure) -> ScriptValue {
        let kind = ScriptBSON.hexadecimal([UInt8(truncatingIfNeeded: subtype)])
        let text = BSONValue.string(base64).extendedJSON(.relaxed)
        do throws(BSONError) {
            let document = try BSONDocument(
                extendedJSON: "{\"\": {\"$binary\": {\"base64\": \(text), "
                    + "\"subType\": \"\(kind)\"}}}")
            return interpreter.value(document[""] ?? .null)
        } catch {
            throw interpreter.fail("Error", "invalid base64: \(base64)")
        }
    }

    /// Calls a method of a value; `nil` if it has none of that name.
    func invoke(
        _ name: String, on value: BSONValue, _ arguments: [ScriptValue]
    ) throws(ScriptFailure) -> ScriptValue? {
        let first = arguments.first ?? .undefined
        if name == "equals" {
            if case .bson(let other) = first.object?.kind { return .bool(value == other) }
            let number = ScriptBSON.number(value)
            return .bool(number != nil && number == first.number)
        }
        switch value {
        case .objectID(let id):
            switch name {
            case "getTimestamp":
                return .object(ScriptObject(.date(Double(id.timestampSeconds) * 1_000)))
            case "toHexString", "toJSON", "valueOf": return .string(id.hex)
            default: return nil
            }
        case .int64(let number): return try arithmetic(name, number, arguments)
        case .int32, .double:
            let number = ScriptBSON.number(value) ?? .nan
            switch name {
            case "toNumber", "toInt", "valueOf": return .number(number)
            case "toFixed": return try interpreter.invoke(name, on: .number(number), arguments)
            default: return nil
            }
        case .binary(let binary):
            switch name {
            case "value", "toString":
                guard !ScriptBSON.isUUID(binary) || first.isNothing == false else { return nil }
                switch first.isNothing ? "utf8" : first.text {
                case "hex": return .string(ScriptBSON.hexadecimal(binary.bytes))
                case "base64": return .string(ScriptBSON.base64(value))
                default: return .string(String(decoding: binary.bytes, as: UTF8.self))
                }
            case "base64": return .string(ScriptBSON.base64(value))
            case "hex": return .string(ScriptBSON.hexadecimal(binary.bytes))
            case "length": return .number(Double(binary.bytes.count))
            case "subtype": return .number(Double(binary.subtype))
            case "toHexString", "toUUID", "toJSON":
                return .string(
                    ScriptBSON.isUUID(binary)
                        ? ScriptBSON.uuid(binary.bytes) : ScriptBSON.base64(value))
            default: return nil
            }
        case .timestamp(let timestamp):
            switch name {
            case "getHighBits", "getTime": return .number(Double(timestamp.seconds))
            case "getLowBits", "getInc": return .number(Double(timestamp.increment))
            case "toString":
                let whole = UInt64(timestamp.seconds) << 32 | UInt64(timestamp.increment)
                return .string(String(whole))
            default: return nil
            }
        default: return nil
        }
    }

    /// Calls a method of an integer of 64 bits.
    private func arithmetic(
        _ name: String, _ number: Int64, _ arguments: [ScriptValue]
    ) throws(ScriptFailure) -> ScriptValue? {
        switch name {
        case "toNumber", "valueOf": return .number(Double(number))
        case "toInt": return .number(Double(Int32(truncatingIfNeeded: number)))
        case "toFixed":
            return try interpreter.invoke(name, on: .number(Double(number)), arguments)
        case "toString":
            guard let radix = arguments.first?.integer, 2...36 ~= radix else { return nil }
            return .string(String(number, radix: radix))
        case "isZero", "eqz": return .bool(number == 0)
        case "isNegative": return .bool(number < 0)
        case "isPositive": return .bool(number >= 0)
        case "isOdd": return .bool(number & 1 == 1)
        case "isEven": return .bool(number & 1 == 0)
        case "negate", "neg": return interpreter.value(.int64(0 &- number))
        case "not": return interpreter.value(.int64(~number))
        case "getHighBits": return .number(Double(Int32(truncatingIfNeeded: number >> 32)))
        case "getLowBits": return .number(Double(Int32(truncatingIfNeeded: number)))
        default: break
        }
        guard ScriptBSON.longOperations.contains(name) else { return nil }
        return try arithmetic(name, number, with: other(arguments.first ?? .undefined))
    }

    /// Returns the other operand of a calculation.
    private func other(_ value: ScriptValue) -> Int64 {
        if case .bson(.int64(let known)) = value.object?.kind { return known }
        if case .string(let text) = value { return Int64(ScriptString.trimmed(text)) ?? 0 }
        return Int64(value.integer)
    }

    private func arithmetic(
        _ name: String, _ number: Int64, with other: Int64
    ) throws(ScriptFailure) -> ScriptValue {
        let whole: Int64
        switch name {
        case "add": whole = number &+ other
        case "subtract", "sub": whole = number &- other
        case "multiply", "mul": whole = number &* other
        case "divide", "div", "modulo", "mod", "rem":
            guard other != 0 else { throw interpreter.fail("Error", "division by zero") }
            whole =
                name.hasBytePrefix("div")
                ? number.dividedReportingOverflow(by: other).partialValue
                : number.remainderReportingOverflow(dividingBy: other).partialValue
        case "and": whole = number & other
        case "or": whole = number | other
        case "xor": whole = number ^ other
        case "shiftLeft", "shl": whole = number << (other & 63)
        case "shiftRight", "shr": whole = number >> (other & 63)
        case "eq": return .bool(number == other)
        case "notEquals", "neq", "ne": return .bool(number != other)
        case "lessThan", "lt": return .bool(number < other)
        case "lessThanOrEqual", "lte", "le": return .bool(number <= other)
        case "greaterThan", "gt": return .bool(number > other)
        case "greaterThanOrEqual", "gte", "ge": return .bool(number >= other)
        default: return .number(number < other ? -1 : number > other ? 1 : 0)
        }
        return interpreter.value(.int64(whole))
    }
}

extension ScriptInterpreter {
    /// Returns an object that holds a value of BSON.
    func value(_ value: BSONValue) -> ScriptValue {
        .object(ScriptObject(.bson(value), keepsNumberTypes: options.keepsNumberTypes))
    }

    /// Returns the error for a property of undefined or null.
    func noProperties(_ name: String, _ subject: ScriptValue) -> ScriptFailure {
        fail(
            "TypeError",
            options.keepsNumberTypes
                ? "Cannot read properties of \(subject.text) (reading '\(name)')"
                : "can't access property \"\(name)\", \(subject.text) has no properties")
    }
}
