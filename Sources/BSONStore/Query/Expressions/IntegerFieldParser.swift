/// The parsing of whole numbers in a field, with MongoDB's texts for invalid values.
///
/// Source: the server's `BSONElement::parseIntegerElementToLong` and its variants.
enum IntegerFieldParser {
    /// Parses a whole number of 64 bits.
    ///
    /// - Throws: `failedToParse` (9).
    static func int64(_ key: String, _ value: BSONValue) throws(StoreError) -> Int64 {
        let shown = "\(key): \(ShellText.text(of: value))"
        switch value {
        case .double(let number):
            guard !number.isNaN else {
                throw fault("Expected an integer, but found NaN in: \(shown)")
            }
            guard number >= -0x1p63, number < 0x1p63 else {
                throw fault("Cannot represent as a 64-bit integer: \(shown)")
            }
            guard let whole = Int64(exactly: number) else {
                throw fault("Expected an integer: \(shown)")
            }
            return whole
        case .int32(let number): return Int64(number)
        case .int64(let number): return number
        case .decimal128(let number):
            guard let (whole, isExact) = number.truncated, isExact else {
                throw fault("Cannot represent as a 64-bit integer: \(shown)")
            }
            return whole
        default: throw fault("Expected a number in: \(shown)")
        }
    }

    /// Parses a whole number of 64 bits that is not negative.
    ///
    /// - Throws: `failedToParse` (9).
    static func nonNegativeInt64(
        _ key: String, _ value: BSONValue
    ) throws(StoreError) -> Int64 {
        let number = try int64(key, value)
        guard number >= 0 else {
            throw fault(
                "Expected a non-negative number in: \(key): \(ShellText.text(of: value))")
        }
        return number
    }

    /// Parses a whole number of 32 bits that is not negative.
    ///
    /// - Throws: `failedToParse` (9).
    static func nonNegativeInt32(
        _ key: String, _ value: BSONValue
    ) throws(StoreError) -> Int32 {
        let number = try int64(key, value)
        guard let small = Int32(exactly: number) else {
            throw fault("Cannot represent \(key): \(ShellText.text(of: value)) in an int")
        }
        guard small >= 0 else {
            throw fault(
                "Expected a non-negative number in: \(key): \(ShellText.text(of: value))")
        }
        return small
    }

    private static func fault(_ message: String) -> StoreError {
        StoreError(.failedToParse, message)
    }
}
