/// Values as text, in the form of the server's error messages.
///
/// Source: the server's `BSONElement::toString`.
package enum ShellText {
    /// Returns the text of one value.
    package static func text(of value: BSONValue) -> String {
        switch value {
        case .double(let value): return number(value)
        case .string(let value), .symbol(let value): return text(of: value)
        case .document(let value): return text(of: value)
        case .array(let value):
            let members = value.map { text(of: $0) }.joined(separator: ", ")
            return value.isEmpty ? "[]" : "[ \(members) ]"
        case .binary(let value):
            return text(of: value)
        case .undefined: return "undefined"
        case .objectID(let value):
            return "ObjectId('\(value.bytes.map { hexadecimal($0) }.joined())')"
        case .bool(let value): return value ? "true" : "false"
        case .datetime(let value): return "new Date(\(value.milliseconds))"
        case .null: return "null"
        case .regularExpression(let value): return "/\(value.pattern)/\(value.options)"
        case .dbPointer(let value): return "DBRef('\(value.namespace)',\(value.id.bytes))"
        case .javascript(let value):
            return value.utf8.count >= 80 ? cut(value, to: 70) : value
        case .javascriptWithScope(let value):
            return "CodeWScope( \(value.code), \(text(of: value.scope)))"
        case .int32(let value): return String(value)
        case .timestamp(let value): return "Timestamp(\(value.seconds), \(value.increment))"
        case .int64(let value): return String(value)
        case .decimal128(let value): return value.description
        case .minKey: return "MinKey"
        case .maxKey: return "MaxKey"
        }
    }

    /// Returns the text of a document with its fields in order.
    package static func text(of document: BSONDocument) -> String {
        guard !document.isEmpty else { return "{}" }
        let fields = document.map { "\($0.key): \(text(of: $0.value))" }
        return "{ \(fields.joined(separator: ", ")) }"
    }

    /// Returns a text in quotes, shortened if it is long.
    private static func text(of value: String) -> String {
        value.utf8.count >= 160 ? "\"\(cut(value, to: 150))\"" : "\"\(value)\""
    }

    private static func text(of value: BSONBinary) -> String {
        let bytes = Array(value.bytes)
        if value.subtype == 4, bytes.count == 16 {
            let hex = bytes.map { hexadecimal($0) }
            let groups = [0..<4, 4..<6, 6..<8, 8..<10, 10..<16].map { hex[$0].joined() }
            return "UUID(\"\(groups.joined(separator: "-"))\")"
        }
        let shown = bytes.prefix(bytes.count > 80 ? 70 : 80)
        let hex = shown.map { hexadecimal($0, uppercase: true) }.joined()
        return "BinData(\(value.subtype), \(hex)\(bytes.count > 80 ? "..." : ""))"
    }

    /// Returns the first bytes, cut at the end of a whole character.
    private static func cut(_ text: String, to count: Int) -> String {
        String(decoding: text.utf8.prefix(count), as: UTF8.self) + "..."
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
