extension JSONSchema.Numbers {
    func accepts(_ value: BSONValue) -> Bool {
        if let minimum {
            switch Self.compare(value, minimum) {
            case .greater: break
            case .equal where !excludesMinimum: break
            case .equal, .less, nil: return false
            }
        }
        if let maximum {
            switch Self.compare(value, maximum) {
            case .less: break
            case .equal where !excludesMaximum: break
            case .equal, .greater, nil: return false
            }
        }
        guard let divisor else { return true }
        return Self.decimal(value).map { $0.isMultiple(of: divisor) } ?? false
    }

    /// Compares two numbers; a NaN compares with itself only.
    private static func compare(_ left: BSONValue, _ right: BSONValue) -> BSONOrder? {
        let order = BSONOrder.compare(left, right)
        let hasNaN = [left, right].contains {
            BSONOrder.compare($0, .double(.nan)) == .equal
        }
        return hasNaN && order != .equal ? nil : order
    }

    /// Returns the number as a decimal; a double with 15 digits, as MongoDB reads it.
    static func decimal(_ value: BSONValue) -> BSONDecimal128? {
        switch value {
        case .double(let number): rounded(number)
        case .int32(let number): BSONDecimal128(Int64(number))
        case .int64(let number): BSONDecimal128(number)
        case .decimal128(let number): number
        default: nil
        }
    }

    private static func rounded(_ number: Double) -> BSONDecimal128 {
        // The shortest text has up to 17 digits; digits behind the 15th are rounding noise.
        let decimal = BSONDecimal128(number)
        guard decimal.kind == .finite else { return decimal }
        var (coefficient, exponent) = (decimal.coefficient, decimal.exponent)
        while coefficient >= 1_000_000_000_000_000 {
            coefficient = (coefficient + 5) / 10
            exponent += 1
        }
        return BSONDecimal128(
            isNegative: decimal.isNegative, coefficient: coefficient, exponent: exponent)
    }
}
