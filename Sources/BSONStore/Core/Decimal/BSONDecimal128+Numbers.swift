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
        if text.hasSuffix(".0") { text.removeLast(2) }
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
}
