extension BSONValue {
    /// Whether the value is a number of any width.
    package var isNumber: Bool {
        switch self {
        case .double, .int32, .int64, .decimal128: true
        default: false
        }
    }

    /// The whole number, of any width; `nil` for other values and if it does not fit.
    var wholeNumber: Int64? {
        guard case .decimal128(let value) = self else { return int64Value }
        return value.truncated.flatMap { $0.isExact ? $0.value : nil }
    }

    /// The number without its fraction; `nil` for other values and if it does not fit.
    package var truncatedNumber: Int64? {
        switch self {
        case .double(let value): Int64(exactly: value.rounded(.towardZero))
        case .int32(let value): Int64(value)
        case .int64(let value): value
        case .decimal128(let value): value.truncated?.value
        default: nil
        }
    }

    /// Whether the value is a double or decimal that is not a number.
    package var isNaN: Bool {
        switch self {
        case .double(let value): value.isNaN
        case .decimal128(let value): value.kind == .nan
        default: false
        }
    }

    /// The number as a whole one, clamped to the range of an int64; `nil` for other values.
    ///
    /// A double loses its fraction, a decimal is rounded to the nearest even number, NaN is 0.
    ///
    /// Source: the server's `BSONElement::safeNumberLong`.
    package var clampedNumber: Int64? {
        switch self {
        case .double(let value):
            if value.isNaN { return 0 }
            return Int64(exactly: value.rounded(.towardZero)) ?? (value < 0 ? .min : .max)
        case .int32(let value): return Int64(value)
        case .int64(let value): return value
        case .decimal128(let value):
            if value.kind == .nan { return 0 }
            return value.quantized(to: 0, .nearestEven).int64Value
                ?? (value.isNegative ? .min : .max)
        default: return nil
        }
    }

    /// Parses a count of a stage: a number without fraction that is not negative.
    ///
    /// - Parameter name: the text before the value in the error.
    /// - Throws: an error with MongoDB's text and the given code.
    func wholeCount(
        _ name: String, code: Int32, for stage: String
    ) throws(StoreError) -> Int {
        let shown = "\(name): \(ShellText.text(of: self))"
        func invalid(_ reason: String) -> StoreError {
            .location(code, "invalid argument to \(stage) stage: \(reason): \(shown)")
        }
        guard BSONNumber(self) != nil else { throw invalid("Expected a number in") }
        guard let number = wholeNumber else {
            if case .double(let double) = self {
                if double.isNaN { throw invalid("Expected an integer, but found NaN in") }
                if double.rounded(.towardZero) != double { throw invalid("Expected an integer") }
            } else if case .decimal128(let decimal) = self, decimal.kind == .nan {
                throw invalid("Expected an integer, but found NaN in")
            }
            guard truncatedNumber == nil else { throw invalid("Expected an integer") }
            throw invalid("Cannot represent as a 64-bit integer")
        }
        guard number >= 0 else { throw invalid("Expected a non-negative number in") }
        return Int(number)
    }

    /// Whether the value is null or undefined.
    var isNullish: Bool {
        switch self {
        case .null, .undefined: true
        default: false
        }
    }

    /// Returns a count as an int32 if it fits, else as an int64.
    static func count(_ count: Int) -> BSONValue {
        Int32(exactly: count).map { .int32($0) } ?? .int64(Int64(count))
    }
}
