import BSONStore
import Foundation

/// The type of a column, in the notation of mongoimport's `--columnsHaveTypes`.
enum ColumnType: Sendable {
    /// A number if the text is one, else a string.
    case auto
    case binary(BinaryText)
    case boolean
    case date(DateLayout)
    case decimal
    case double
    case int32
    case int64
    case string

    /// The encoding of bytes as text.
    enum BinaryText: String, Sendable {
        case base64
        case base32
        case hex
    }

    /// The types as errors name them.
    static let names =
        "auto(), binary(base64|base32|hex), boolean(), date(2006-01-02), date_ms(yyyy-MM-dd), "
        + "date_oracle(YYYY-MM-DD), decimal(), double(), int32(), int64() or string()"

    /// Reads a type, for example `int32()` or `date(2006-01-02)`; `nil` for an unknown one.
    init?(_ text: some StringProtocol) {
        guard text.hasSuffix(")"), let open = text.firstIndex(of: "(") else { return nil }
        let argument = String(text[text.index(after: open)...].dropLast())
        let name = String(text[..<open])
        let notations: [String: DateLayout.Notation] = [
            "date": .go, "date_go": .go, "date_ms": .dotNet, "date_oracle": .oracle,
        ]
        if let notation = notations[name] {
            guard let layout = DateLayout(argument, notation) else { return nil }
            self = .date(layout)
            return
        }
        if name == "binary" {
            guard let encoding = BinaryText(rawValue: argument) else { return nil }
            self = .binary(encoding)
            return
        }
        guard argument.isEmpty else { return nil }
        switch name {
        case "auto": self = .auto
        case "boolean": self = .boolean
        case "decimal": self = .decimal
        case "double": self = .double
        case "int32": self = .int32
        case "int64": self = .int64
        case "string": self = .string
        default: return nil
        }
    }

    /// The name in errors.
    var name: String {
        switch self {
        case .auto: "auto"
        case .binary(let encoding): "binary(\(encoding.rawValue))"
        case .boolean: "boolean"
        case .date: "date"
        case .decimal: "decimal"
        case .double: "double"
        case .int32: "int32"
        case .int64: "int64"
        case .string: "string"
        }
    }

    /// Returns the value that a text stands for; `nil` if it stands for none of this type.
    func value(of text: String) -> BSONValue? {
        switch self {
        case .auto: Self.number(text) ?? .string(text)
        case .binary(let encoding): Self.bytes(text, encoding).map { .binary(BSONBinary($0)) }
        case .boolean: Self.boolean(text).map { .bool($0) }
        case .date(let layout): layout.time(of: text).map { .datetime($0) }
        case .decimal: BSONDecimal128(text[...]).map { .decimal128($0) }
        case .double: Double(text).map { .double($0) }
        case .int32: Int32(text).map { .int32($0) }
        case .int64: Int64(text).map { .int64($0) }
        case .string: .string(text)
        }
    }

    private static func number(_ text: String) -> BSONValue? {
        // The first character decides for most texts; `nan` and `0x1` are strings.
        guard let first = text.utf8.first, first < 0x3A, first != 0x20 else { return nil }
        guard text.utf8.allSatisfy({ "+-.eE0123456789".utf8.contains($0) }) else { return nil }
        if let number = Int32(text) { return .int32(number) }
        if let number = Int64(text) { return .int64(number) }
        return Double(text).map { .double($0) }
    }

    private static func boolean(_ text: String) -> Bool? {
        switch text.lowercased() {
        case "true", "t", "1": true
        case "false", "f", "0": false
        default: nil
        }
    }

    private static func bytes(_ text: String, _ encoding: BinaryText) -> [UInt8]? {
        switch encoding {
        case .base64: Data(base64Encoded: text).map { Array($0) }
        case .base32: base32(text)
        case .hex: hex(text)
        }
    }

    private static func hex(_ text: String) -> [UInt8]? {
        let digits = text.compactMap(\.hexDigitValue)
        guard digits.count == text.count, digits.count.isMultiple(of: 2) else { return nil }
        return stride(from: 0, to: digits.count, by: 2).map {
            UInt8(digits[$0] << 4 | digits[$0 + 1])
        }
    }

    /// Source: RFC 4648, section 6.
    private static func base32(_ text: String) -> [UInt8]? {
        let alphabet = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZ234567".utf8)
        let letters = text.utf8.reversed().drop { $0 == UInt8(ascii: "=") }.reversed()
        var (bytes, bits, bitCount) = ([UInt8](), 0, 0)
        for letter in letters {
            guard let value = alphabet.firstIndex(of: letter) else { return nil }
            bits = (bits << 5 | value) & 0xFFF
            bitCount += 5
            if bitCount >= 8 {
                bitCount -= 8
                bytes.append(UInt8(truncatingIfNeeded: bits >> bitCount))
            }
        }
        return bytes
    }
}
