import BSONQuery

/// The values of BSON that scripts hold as objects.
enum ScriptBSON {
    /// Returns the value as a number, if it is one.
    static func number(_ value: BSONValue) -> Double? {
        switch value {
        case .double(let number): number
        case .int32(let number): Double(number)
        case .int64(let number): Double(number)
        case .decimal128(let decimal): ScriptNumber.value(of: decimal.description)
        default: nil
        }
    }

    /// Returns the value as `toString` writes it in MongoDB's shell.
    static func text(_ value: BSONValue) -> String {
        switch value {
        case .double(let number): ScriptNumber.text(number)
        case .binary(let binary):
            isUUID(binary) ? uuid(binary.bytes) : base64(value)
        case .objectID(let id): id.hex
        case .javascript(let text), .symbol(let text): text
        case .int32(let number): String(number)
        case .timestamp(let timestamp):
            "Timestamp({ t: \(timestamp.seconds), i: \(timestamp.increment) })"
        case .int64(let number): String(number)
        case .decimal128(let decimal): decimal.description
        case .minKey: "MinKey()"
        case .maxKey: "MaxKey()"
        default: value.extendedJSON(.relaxed)
        }
    }

    static func isUUID(_ binary: BSONBinary) -> Bool {
        binary.subtype == 4 && binary.bytes.count == 16
    }

    /// Returns bytes as the text of a UUID.
    static func uuid(_ bytes: [UInt8]) -> String {
        let digits = hexadecimal(bytes)
        var text = ""
        for (index, digit) in digits.enumerated() {
            if [8, 12, 16, 20].contains(index) { text += "-" }
            text.append(digit)
        }
        return text
    }

    static func hexadecimal(_ bytes: [UInt8]) -> String {
        bytes.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
    }

    /// Returns the bytes that hexadecimal digits stand for; dashes do not count.
    static func bytes(_ text: String) -> [UInt8]? {
        let digits = text.filter { $0 != "-" }
        guard digits.utf8.count.isMultiple(of: 2) else { return nil }
        var bytes: [UInt8] = []
        var rest = digits[...]
        while !rest.isEmpty {
            guard let byte = UInt8(rest.prefix(2), radix: 16) else { return nil }
            bytes.append(byte)
            rest = rest.dropFirst(2)
        }
        return bytes
    }

    static func base64(_ value: BSONValue) -> String {
        let parts = value.extendedJSON(.canonical).split(
            separator: "\"", omittingEmptySubsequences: false)
        return parts.count > 5 ? String(parts[5]) : ""
    }

    /// Returns the global that makes a value.
    static func type(of value: BSONValue) -> ScriptGlobal {
        switch value {
        case .double: .double
        case .binary(let binary): isUUID(binary) ? .uuid : .binary
        case .objectID: .objectID
        case .regularExpression: .bsonRegExp
        case .javascript: .code
        case .symbol: .bsonSymbol
        case .javascriptWithScope: .code
        case .int32: .int32
        case .timestamp: .timestamp
        case .int64: .long
        case .decimal128: .decimal128
        case .minKey: .minKey
        case .maxKey: .maxKey
        default: .object
        }
    }

    static func isInstance(_ value: BSONValue, of global: ScriptGlobal) -> Bool {
        let type = type(of: value)
        return switch global {
        case .numberLong: type == .long
        case .numberInt: type == .int32
        case .numberDecimal: type == .decimal128
        case .binData, .binary: type == .binary || type == .uuid
        default: type == global
        }
    }

    /// The methods of an integer of 64 bits that take another one.
    static let longOperations: Set<String> = [
        "add", "and", "comp", "compare", "div", "divide", "eq", "ge", "greaterThan",
        "greaterThanOrEqual", "gt", "gte", "le", "lessThan", "lessThanOrEqual", "lt", "lte", "mod",
        "modulo", "mul", "multiply", "ne", "neq", "notEquals", "or", "rem", "shiftLeft",
        "shiftRight", "shl", "shr", "sub", "subtract", "xor",
    ]

    /// The names of the methods that a value has.
    static func methods(_ value: BSONValue) -> Set<String> {
        switch value {
        case .double, .int32, .int64:
            [
                "add", "compare", "divide", "equals", "multiply", "subtract", "toInt", "toNumber",
                "toFixed",
            ]
        case .binary:
            [
                "base64", "equals", "hex", "length", "subtype", "toHexString", "toJSON", "toUUID",
                "value",
            ]
        case .objectID: ["equals", "getTimestamp", "toHexString", "toJSON"]
        case .timestamp: ["getHighBits", "getLowBits", "equals"]
        default: ["equals"]
        }
    }
}
