#if canImport(Darwin)
    internal import Darwin
#else
    internal import Glibc
#endif

/// Values and types as text, in the form of the server's errors and string results of expressions.
///
/// Source: the server's `Value::toString`, which differs from how it prints documents elsewhere.
enum ExpressionText {
    /// Returns the name of a value's type, as in `$type`.
    static func type(of value: BSONValue?) -> String { value?.type.alias ?? "missing" }

    /// Returns a value as errors show it.
    static func text(of value: BSONValue?) -> String {
        switch value {
        case nil: "MISSING"
        case .double(let value): number(value)
        case .string(let value): "\"\(value)\""
        case .document(let value): text(of: value)
        case .array(let value): "[\(value.map { text(of: $0) }.joined(separator: ", "))]"
        case .binary(let value):
            "BinData(\(value.subtype), \"\(value.bytes.map(hexadecimal).joined())\")"
        case .undefined: "undefined"
        case .objectID(let value): hexadecimal(value)
        case .bool(let value): value ? "true" : "false"
        case .datetime(let value): ExpressionDateFormat.iso(value.milliseconds) ?? "illegal date"
        case .null: "null"
        case .regularExpression(let value): "/\(value.pattern)/\(value.options)"
        case .dbPointer(let value): "DBRef(\"\(value.namespace)\", \(hexadecimal(value.id)))"
        case .javascript(let value): "Code(\"\(value)\")"
        case .symbol(let value): "Symbol(\"\(value)\")"
        case .javascriptWithScope(let value):
            "CodeWScope(\"\(value.code)\", \(text(of: value.scope)))"
        case .int32(let value): String(value)
        case .timestamp(let value): "Timestamp(\(value.seconds), \(value.increment))"
        case .int64(let value): String(value)
        case .decimal128(let value): value.description
        case .minKey: "MinKey"
        case .maxKey: "MaxKey"
        }
    }

    /// Returns a document as errors show it.
    static func text(of document: BSONDocument) -> String {
        "{\(document.map { "\($0.key): \(text(of: $0.value))" }.joined(separator: ", "))}"
    }

    /// Returns the 24 digits of an ObjectId.
    static func hexadecimal(_ id: BSONObjectID) -> String {
        id.bytes.map(hexadecimal).joined()
    }

    private static func hexadecimal(_ byte: UInt8) -> String {
        let text = String(byte, radix: 16)
        return text.utf8.count == 1 ? "0" + text : text
    }

    /// Returns a double in six significant digits, as C's `%g` prints it.
    static func number(_ value: Double) -> String {
        guard value.isFinite else { return value.isNaN ? "nan" : value < 0 ? "-inf" : "inf" }
        let sign = value.sign == .minus ? "-" : ""
        let (digits, exponent) = digits(of: value, count: 6)
        guard digits != 0 else { return sign + "0" }
        return sign + text(of: digits, exponent, isPlain: (-4..<6).contains(exponent))
    }

    private static func text(of digits: UInt128, _ exponent: Int, isPlain: Bool) -> String {
        var text = String(digits)
        while text.utf8.last == UInt8(ascii: "0") { text.removeLast() }
        if isPlain {
            if exponent < 0 { return "0." + zeros(-exponent - 1) + text }
            let missing = exponent + 1 - text.utf8.count
            if missing >= 0 { return text + zeros(missing) }
            return text.prefix(exponent + 1) + "." + text.dropFirst(exponent + 1)
        }
        let fraction = text.utf8.count > 1 ? "." + text.dropFirst() : ""
        let power = exponent.magnitude < 10 ? "0\(exponent.magnitude)" : "\(exponent.magnitude)"
        return text.prefix(1) + fraction + "e" + (exponent < 0 ? "-" : "+") + power
    }

    /// Returns a double in the fewest digits that read back as the same number, as the server does.
    ///
    /// Source: MongoDB manual, "$toString"; the server prints with `{fmt}`, which writes an
    /// exponent from 16 on and below -4.
    static func shortest(_ value: Double) -> String {
        guard value.isFinite, value != 0 else {
            return number(value)
        }
        let sign = value.sign == .minus ? "-" : ""
        var count = 1
        var (digits, exponent) = digits(of: value, count: count)
        while count < 17, read(digits, exponent, count) != value.magnitude {
            count += 1
            (digits, exponent) = self.digits(of: value, count: count)
        }
        return sign + text(of: digits, exponent, isPlain: (-4..<16).contains(exponent))
    }

    private static func read(_ digits: UInt128, _ exponent: Int, _ count: Int) -> Double? {
        Double("\(digits)e\(exponent - count + 1)")
    }

    /// Returns the first decimal digits of a finite number's magnitude, rounded half to even, and
    /// the exponent of the first digit.
    static func digits(of value: Double, count: Int) -> (digits: UInt128, exponent: Int) {
        var buffer = [CChar](repeating: 0, count: 64)
        withVaList([Int32(count - 1), value.magnitude]) { arguments in
            _ = vsnprintf(&buffer, buffer.count, "%.*e", arguments)
        }
        var digits: UInt128 = 0
        var exponent = 0
        var isNegative = false
        var isExponent = false
        // The locale determines the decimal separator, so all other characters are skipped.
        for byte in buffer.prefix(while: { $0 != 0 }).map({ UInt8(bitPattern: $0) }) {
            switch byte {
            case UInt8(ascii: "e"): isExponent = true
            case UInt8(ascii: "-"): isNegative = true
            case UInt8(ascii: "0")...UInt8(ascii: "9"):
                let digit = byte - UInt8(ascii: "0")
                if isExponent {
                    exponent = exponent * 10 + Int(digit)
                } else {
                    digits = digits * 10 + UInt128(digit)
                }
            default: continue
            }
        }
        return (digits, isNegative ? -exponent : exponent)
    }

    private static func zeros(_ count: Int) -> String { String(repeating: "0", count: count) }
}
