extension ExpressionString {
    /// Returns the substring at a byte with a number of bytes; a negative number means all that
    /// follow.
    static func bytes(_ arguments: [BSONValue?]) throws(StoreError) -> BSONValue {
        let name = "$substrBytes"
        let bytes = Array(try coerce(arguments[0]).utf8)
        let start = try number(name, 16034, "starting index", arguments[1])
        let count = try number(name, 16035, "length", arguments[2])
        guard start >= 0 else {
            throw .location(
                50752, "\(name):  starting index must be non-negative (got: \(start))")
        }
        guard start >= bytes.count || bytes[Int(start)] & 0xC0 != 0x80 else {
            throw .location(
                28656, "\(name):  Invalid range, starting index is a UTF-8 continuation byte.")
        }
        guard start < bytes.count else { return .string("") }
        let rest = Int64(bytes.count) - start
        let end = Int(start + (count < 0 ? rest : min(count, rest)))
        guard end >= bytes.count || bytes[end] & 0xC0 != 0x80 else {
            throw .location(
                28657,
                "\(name):  Invalid range, ending index is in the middle of a UTF-8 character.")
        }
        return .string(String(decoding: bytes[Int(start)..<end], as: UTF8.self))
    }

    private static func number(
        _ name: String, _ code: Int32, _ label: String, _ value: BSONValue?
    ) throws(StoreError) -> Int64 {
        switch value {
        case .double, .int32, .int64: return try NumberCoercion.long(value)
        case .decimal128(let number):
            // The server rounds decimals, and those that do not fit become the least number.
            return number.quantized(to: 0, .nearestEven).int64Value ?? number.int64Value ?? .min
        default:
            throw .location(
                code,
                "\(name):  \(label) must be a numeric type (is BSON type "
                    + "\(ExpressionText.type(of: value)))")
        }
    }

    /// Returns the substring at a code point with a number of code points.
    static func codePoints(_ arguments: [BSONValue?]) throws(StoreError) -> BSONValue {
        let name = "$substrCP"
        let text = try coerce(arguments[0])
        var numbers: [Int] = []
        for (label, codes, value) in [
            ("starting index", (34450, 34451), arguments[1]),
            ("length", (34452, 34453), arguments[2]),
        ] as [(String, (Int32, Int32), BSONValue?)] {
            guard NumberCoercion.isNumber(value) else {
                throw .location(
                    codes.0,
                    "\(name): \(label) must be a numeric type (is BSON type "
                        + "\(ExpressionText.type(of: value)))")
            }
            guard let number = NumberCoercion.exact32(value) else {
                throw .location(
                    codes.1,
                    "\(name): \(label) cannot be represented as a 32-bit integral value: "
                        + ExpressionText.text(of: value))
            }
            numbers.append(number)
        }
        guard numbers[1] >= 0 else {
            throw .location(34454, "\(name): length must be a nonnegative integer.")
        }
        guard numbers[0] >= 0 else {
            throw .location(34455, "\(name): the starting index must be nonnegative integer.")
        }
        return .string(String(text.unicodeScalars.dropFirst(numbers[0]).prefix(numbers[1])))
    }
}
