/// An IEEE 754-2008 decimal floating-point number of 128 bits in BSON's binary integer encoding.
///
/// `==` compares bits: `1.0` differs from `1.00`, and a NaN equals the same NaN.
///
/// Source: MongoDB's BSON Decimal128 specification.
public struct BSONDecimal128: Sendable, Hashable {
    /// The upper 64 bits: sign, combination field, exponent, upper coefficient.
    public let high: UInt64
    /// The lower 64 bits of the coefficient.
    public let low: UInt64

    /// Creates a number from its two halves.
    public init(high: UInt64, low: UInt64) {
        self.high = high
        self.low = low
    }

    /// The maximum number of digits in a coefficient.
    public static let digitsMax = 34
    /// The exponents of ten that a coefficient can have.
    public static let exponents = -6_176...6_111
    /// The largest coefficient: 34 nines.
    package static let coefficientMax: UInt128 = 9_999_999_999_999_999_999_999_999_999_999_999

    /// Not a number, positive and quiet.
    public static let nan = BSONDecimal128(high: 0x7C00 << 48, low: 0)
    /// Positive infinity.
    public static let infinity = BSONDecimal128(high: 0x7800 << 48, low: 0)
    /// Zero with exponent zero.
    public static let zero = BSONDecimal128(isNegative: false, coefficient: 0, exponent: 0)

    /// Assembles a finite number; the caller keeps both parts in their ranges.
    package init(isNegative: Bool, coefficient: UInt128, exponent: Int) {
        assert(coefficient <= Self.coefficientMax && Self.exponents.contains(exponent))
        let biased = UInt64(exponent - Self.exponents.lowerBound)
        let upper = UInt64(truncatingIfNeeded: coefficient >> 64)
        high = (isNegative ? 1 << 63 : 0) | biased << 49 | upper
        low = UInt64(truncatingIfNeeded: coefficient)
    }

    /// The classes of decimals: numbers, infinities and NaNs.
    public enum Kind: Sendable, Hashable, CaseIterable {
        case finite
        case infinite
        case nan
    }

    /// The class of the number.
    public var kind: Kind {
        switch high >> 58 & 0b11111 {
        case 0b11111: .nan
        case 0b11110: .infinite
        default: .finite
        }
    }

    /// Whether the sign bit is set; it also exists for zeros and NaNs.
    public var isNegative: Bool { high >> 63 == 1 }

    /// Returns the same number with the opposite sign bit.
    public static prefix func - (value: Self) -> Self {
        BSONDecimal128(high: value.high ^ 1 << 63, low: value.low)
    }

    /// The integer that is scaled by a power of ten; 0 for infinities and NaNs.
    ///
    /// Encodings above 34 nines are not canonical and stand for 0, as IEEE 754 says.
    public var coefficient: UInt128 {
        guard high >> 61 & 0b11 != 0b11 else { return 0 }
        let value = UInt128(high & (1 << 49 - 1)) << 64 | UInt128(low)
        return value <= Self.coefficientMax ? value : 0
    }

    /// The power of ten that scales the coefficient; 0 for infinities and NaNs.
    public var exponent: Int {
        guard kind == .finite else { return 0 }
        let shift: UInt64 = high >> 61 & 0b11 == 0b11 ? 47 : 49
        return Int(high >> shift & 0x3FFF) + Self.exponents.lowerBound
    }
}
