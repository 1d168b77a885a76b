/// Prints values as the server does in its error texts.
///
/// Source: the server's `BSONElement::toString`.
package enum ShellText {
    /// One value.
    package static func text(of value: BSONValue) -> String {
        switch value {
        case .double(let value): return number(value)
        case .string(let value), .symbol(let value): return "\"\(value)\""
        case .document(let value): return text(of: value)
        case .array(let value):
            let members = value.map { text(of: $0) }.joined(separator: ", ")
            return value.isEmpty ? "[]" : "[ \(members) ]"
        case .binary(let value):
            let hex = value.bytes.map { hexadecimal($0, uppercase: true) }.joined()
            return "BinData(\(value.subtype), \(hex))"
        case .undefined: return "undefined"
        case .objectID(let value):
            return "ObjectId('\(value.bytes.map { hexadecimal($0) }.joined())')"
        case .bool(let value): return value ? "true" : "false"
        case .datetime(let value): return "new Date(\(value.milliseconds))"
        case .null: return "null"
        case .regularExpression(let value): return "/\(value.pattern)/\(value.options)"
        case .dbPointer(let value): return "DBRef('\(value.namespace)',\(value.id.bytes))"
        case .javascript(let value): return value
        case .javascriptWithScope(let value):
            return "CodeWScope( \(value.code), \(text(of: value.scope)))"
        case .int32(let value): return String(value)
        case .timestamp(let value): return "Timestamp(\(value.seconds), \(value.increment))"
        case .int64(let value): return String(value)
        case .decimal128: return "NumberDecimal"
        case .minKey: return "MinKey"
        case .maxKey: return "MaxKey"
        }
    }

    /// A document with its fields in order.
    static func text(of document: BSONDocument) -> String {
        guard !document.isEmpty else { return "{}" }
        let fields = document.map { "\($0.key): \(text(of: $0.value))" }
        return "{ \(fields.joined(separator: ", ")) }"
    }

    private static func number(_ value: Double) -> String {
        if value.isNaN { return "nan.0" }
        if value.isInfinite { return value < 0 ? "-inf.0" : "inf.0" }
        return value.description
    }

    private static func hexadecimal(_ byte: UInt8, uppercase: Bool = false) -> String {
        let text = String(byte, radix: 16, uppercase: uppercase)
        return text.utf8.count == 1 ? "0" + text : text
    }
}
