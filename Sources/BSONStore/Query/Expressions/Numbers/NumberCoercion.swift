/// The coercion of values to numbers for MongoDB's operators.
enum NumberCoercion {
    /// Whether a value is a number of any width.
    static func isNumber(_ value: BSONValue?) -> Bool {
        switch value {
        case .double, .int32, .int64, .decimal128: true
        default: false
        }
    }

    /// Returns the nearest double; `nil` for other types.
    static func double(_ value: BSONValue?) -> Double? {
        switch value {
        case .double(let value): value
        case .int32(let value): Double(value)
        case .int64(let value): Double(value)
        case .decimal128(let value): value.doubleValue
        default: nil
        }
    }

    /// Returns the int32 or int64; `nil` for other types.
    static func whole(_ value: BSONValue?) -> Int64? {
        switch value {
        case .int32(let value): Int64(value)
        case .int64(let value): value
        default: nil
        }
    }

    /// Returns the decimal, from a double's first 15 digits; `nil` for other types.
    static func decimal(_ value: BSONValue?) -> BSONDecimal128? {
        switch value {
        case .double(let value): decimal(value, digits: 15)
        case .int32(let value): BSONDecimal128(Int64(value))
        case .int64(let value): BSONDecimal128(value)
        case .decimal128(let value): value
        default: nil
        }
    }

    /// Converts a double to a decimal with a number of digits: 15, or the maximum of 34.
    static func decimal(_ value: Double, digits count: Int) -> BSONDecimal128 {
        guard value.isFinite else {
            return value.isNaN ? .nan : value < 0 ? -.infinity : .infinity
        }
        let isNegative = value.sign == .minus
        guard value != 0 else {
            return BSONDecimal128(isNegative: isNegative, coefficient: 0, exponent: 0)
        }
        var (digits, exponent) = ExpressionText.digits(of: value, count: count)
        exponent -= count - 1
        // All 34 digits are only computed if needed; trailing zeros are not.
        if count == BSONDecimal128.digitsMax {
            while digits % 10 == 0, exponent < 0 {
                digits /= 10
                exponent += 1
            }
        }
        return BSONDecimal128(isNegative: isNegative, coefficient: digits, exponent: exponent)
    }

    /// Returns the number if an int64 represents it without loss.
    static func exact(_ value: BSONValue?) -> Int64? {
        switch value {
        case .double(let value): Int64(exactly: value)
        case .decimal128(let value): value.int64Value
        default: whole(value)
        }
    }

    /// Returns the number if an int32 represents it without loss.
    static func exact32(_ value: BSONValue?) -> Int? {
        exact(value).flatMap { Int32(exactly: $0) }.map { Int($0) }
    }

    /// Returns the number truncated to an int64.
    ///
    /// - Throws: 31109 for a number outside of the range, 16004 for other types.
    static func long(_ value: BSONValue?) throws(StoreError) -> Int64 {
        if let whole = whole(value) { return whole }
        guard let number = double(value) else {
            throw .location(
                16004, "can't convert from BSON type \(ExpressionText.type(of: value)) to long")
        }
        if case .decimal128(let decimal) = value {
            // The server does not check the range of a decimal.
            return decimal.quantized(to: 0, .towardZero).int64Value ?? .min
        }
        guard number >= -0x1p63, number < 0x1p63 else {
            throw .location(
                31109,
                "Can't coerce out of range value \(ExpressionText.number(number)) to long")
        }
        return Int64(number)
    }

    /// Returns an int32 if the number fits, else an int64.
    static func narrow(_ value: Int64) -> BSONValue {
        Int32(exactly: value).map { .int32($0) } ?? .int64(value)
    }

    /// Whether a value is missing, null or undefined.
    static func isNullish(_ value: BSONValue?) -> Bool {
        switch value {
        case nil, .null, .undefined: true
        default: false
        }
    }
}
