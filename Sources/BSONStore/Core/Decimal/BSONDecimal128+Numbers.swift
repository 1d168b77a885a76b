extension BSONDecimal128 {
    /// Converts a whole number exactly.
    public init(_ value: Int64) {
        self.init(isNegative: value < 0, coefficient: UInt128(value.magnitude), exponent: 0)
    }

    /// Converts a whole number exactly.
    public init(_ value: Int) { self.init(Int64(value)) }

    /// Converts a double to the shortest decimal number that reads back as the same double.
    ///
    /// The sign of zero is kept; infinities and NaN become their decimal counterparts.
    public init(_ value: Double) {
        guard value.isFinite else {
            self = value.isNaN ? .nan : value < 0 ? -.infinity : .infinity
            return
        }
        var text = value.description
        if text.hasByteSuffix(".0") { text.removeLast(2) }
        do throws(BSONError) {
            self = try BSONDecimal128(text)
        } catch {
            preconditionFailure("The digits of a double fit a Decimal128: \(error)")
        }
    }

    /// The double nearest to the number.
    public var doubleValue: Double {
        switch kind {
        case .nan: .nan
        case .infinite: isNegative ? -.infinity : .infinity
        case .finite: Double(description) ?? .nan
        }
    }

    /// The whole number, if it is one and fits; zeros behind the point are ignored.
    public var int64Value: Int64? {
        guard kind == .finite else { return nil }
        var coefficient = coefficient
        var exponent = exponent
        if coefficient == 0 { return 0 }
        while exponent < 0 {
            let (quotient, remainder) = coefficient.quotientAndRemainder(dividingBy: 10)
            guard remainder == 0 else { return nil }
            coefficient = quotient
            exponent += 1
        }
        while exponent > 0 {
            guard coefficient <= UInt128(UInt64.max) else { return nil }
            coefficient *= 10
            exponent -= 1
        }
        guard let magnitude = UInt64(exactly: coefficient) else { return nil }
        return isNegative ? Int64(exactly: -Int128(magnitude)) : Int64(exactly: magnitude)
    }

    /// The whole part and whether it is exact; `nil` if it exceeds an int64.
    package var truncated: (value: Int64, isExact: Bool)? {
        guard kind == .finite else { return nil }
        var (coefficient, exponent, isExact) = (self.coefficient, self.exponent, true)
        while exponent < 0, coefficient != 0 {
            let (quotient, remainder) = coefficient.quotientAndRemainder(dividingBy: 10)
            coefficient = quotient
            exponent += 1
            if remainder != 0 { isExact = false }
        }
        while exponent > 0, coefficient != 0 {
            guard coefficient <= UInt128(Int64.max) else { return nil }
            coefficient *= 10
            exponent -= 1
        }
        guard coefficient <= UInt128(Int64.max) + (isNegative ? 1 : 0) else { return nil }
        let magnitude = UInt64(coefficient)
        let value = isNegative ? Int64(truncatingIfNeeded: 0 &- magnitude) : Int64(magnitude)
        return (value, isExact)
    }

    /// Whether the number is a multiple of a positive number; false for infinities and NaN.
    package func isMultiple(of divisor: BSONDecimal128) -> Bool {
        guard kind == .finite, divisor.kind == .finite, divisor.coefficient != 0 else {
            return false
        }
        var rest = coefficient
        var shift = exponent - divisor.exponent
        while shift < 0, rest != 0 {
            let (quotient, remainder) = rest.quotientAndRemainder(dividingBy: 10)
            guard remainder == 0 else { return false }
            rest = quotient
            shift += 1
        }
        rest %= divisor.coefficient
        while shift > 0, rest != 0 {
            rest = rest * 10 % divisor.coefficient
            shift -= 1
        }
        return rest == 0
    }

    /// Returns the same number with another exponent, with the digits behind it rounded.
    ///
    /// A NaN for infinities and for numbers that would have more than 34 digits.
    package func quantized(to target: Int, _ rounding: DecimalRounding) -> BSONDecimal128 {
        guard kind == .finite else { return .nan }
        var coefficient = coefficient
        var distance = target - exponent
        if coefficient == 0 {
            return BSONDecimal128(isNegative: isNegative, coefficient: 0, exponent: target)
        }
        while distance < 0 {
            guard coefficient <= Self.coefficientMax / 10 else { return .nan }
            coefficient *= 10
            distance += 1
        }
        let unit = distance > 38 ? nil : (0..<distance).reduce(UInt128(1)) { unit, _ in unit * 10 }
        let (whole, rest) =
            unit.map { coefficient.quotientAndRemainder(dividingBy: $0) }
            .map { ($0.quotient, $0.remainder) } ?? (0, coefficient)
        let isUp =
            switch rounding {
            case .towardZero: false
            case .up: rest != 0 && !isNegative
            case .down: rest != 0 && isNegative
            case .nearestEven:
                unit.map { rest > $0 / 2 || ($0 > 1 && rest == $0 / 2 && whole % 2 == 1) } ?? false
            }
        let rounded = whole + (isUp ? 1 : 0)
        guard rounded <= Self.coefficientMax, Self.exponents.contains(target) else { return .nan }
        return BSONDecimal128(isNegative: isNegative, coefficient: rounded, exponent: target)
    }

    /// Whether the number is a zero of any exponent and sign.
    package var isZero: Bool { kind == .finite && coefficient == 0 }
}
