#if canImport(FoundationEssentials)
    public import FoundationEssentials
#else
    public import Foundation
#endif

extension BSONDecimal128 {
    /// Converts a decimal number exactly.
    ///
    /// - Throws: `BSONError` with code `invalidNumber` when it has more than 34 digits.
    public init(_ decimal: Decimal) throws(BSONError) {
        try self.init(decimal.isNaN ? "NaN" : decimal.description)
    }

    /// The number as a `Decimal`, whose exponents range from -128 to 127; `nil` outside.
    public var decimalValue: Decimal? {
        switch kind {
        case .nan: return .nan
        case .infinite: return nil
        case .finite: break
        }
        if coefficient == 0 { return 0 }
        var coefficient = coefficient
        var exponent = exponent
        while exponent < -128, coefficient % 10 == 0 {
            coefficient /= 10
            exponent += 1
        }
        while exponent > 127, coefficient <= .max / 10 {
            coefficient *= 10
            exponent -= 1
        }
        guard (-128...127).contains(exponent) else { return nil }
        // Two halves of 17 digits, as Decimal takes at most 64 bits at once.
        let (upper, lower) = coefficient.quotientAndRemainder(
            dividingBy: 1_000_000_000_000_000_000)
        guard let high = UInt64(exactly: upper) else { return nil }
        let significand =
            Decimal(sign: .plus, exponent: 18, significand: Decimal(high))
            + Decimal(UInt64(lower))
        return Decimal(
            sign: isNegative ? .minus : .plus, exponent: exponent, significand: significand)
    }
}
