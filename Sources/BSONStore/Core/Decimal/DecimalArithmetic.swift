/// Adds and multiplies decimals of 34 digits, rounding half to even.
///
/// Source: IEEE 754-2008, sections 5.1 and 6; results have the preferred exponent where it fits.
enum DecimalArithmetic {
    /// The sum.
    static func add(_ left: BSONDecimal128, _ right: BSONDecimal128) -> BSONDecimal128 {
        if left.kind != .finite || right.kind != .finite { return addSpecial(left, right) }
        var (high, low) = left.exponent >= right.exponent ? (left, right) : (right, left)
        let distance = high.exponent - low.exponent
        // A zero with the larger exponent only lends its sign.
        if high.coefficient == 0 { swap(&high, &low) }
        guard high.exponent >= low.exponent else {
            return sum(low, high, distance: 0, exponent: high.exponent)
        }
        guard distance > 38, low.coefficient != 0 else {
            return sum(high, low, distance: distance, exponent: low.exponent)
        }
        // So far apart that the small one only decides about rounding.
        var big = WideInteger(high.coefficient)
        big.multiply(byPower10: 38)
        let least = WideInteger(1)
        if high.isNegative == low.isNegative { big.add(least) } else { big.subtract(least) }
        return rounded(big, high.exponent - 38, isNegative: high.isNegative)
    }

    /// The product.
    static func multiply(_ left: BSONDecimal128, _ right: BSONDecimal128) -> BSONDecimal128 {
        let isNegative = left.isNegative != right.isNegative
        if left.kind == .nan || right.kind == .nan { return .nan }
        if left.kind == .infinite || right.kind == .infinite {
            let hasZero = [left, right].contains { $0.kind == .finite && $0.coefficient == 0 }
            return hasZero ? .nan : isNegative ? -.infinity : .infinity
        }
        let product = left.coefficient.multipliedFullWidth(by: right.coefficient)
        return rounded(
            WideInteger(high: product.high, low: product.low), left.exponent + right.exponent,
            isNegative: isNegative)
    }

    private static func addSpecial(
        _ left: BSONDecimal128, _ right: BSONDecimal128
    ) -> BSONDecimal128 {
        if left.kind == .nan || right.kind == .nan { return .nan }
        if left.kind == .infinite, right.kind == .infinite {
            return left.isNegative == right.isNegative ? left : .nan
        }
        return left.kind == .infinite ? left : right
    }

    private static func sum(
        _ high: BSONDecimal128, _ low: BSONDecimal128, distance: Int, exponent: Int
    ) -> BSONDecimal128 {
        var big = WideInteger(high.coefficient)
        let small = WideInteger(low.coefficient)
        if distance > 38 {
            // The small one is zero: keep what digits there is room for.
            let shift = min(distance, 34 - WideInteger.digits(high.coefficient))
            big.multiply(byPower10: shift)
            return rounded(big, high.exponent - shift, isNegative: high.isNegative)
        }
        big.multiply(byPower10: distance)
        if high.isNegative == low.isNegative {
            big.add(small)
            return rounded(big, exponent, isNegative: high.isNegative)
        }
        guard big.isLess(than: small) else {
            big.subtract(small)
            return rounded(big, exponent, isNegative: !big.isZero && high.isNegative)
        }
        var rest = small
        rest.subtract(big)
        return rounded(rest, exponent, isNegative: low.isNegative)
    }

    /// Brings a number to 34 digits and an exponent that exists.
    static func rounded(
        _ value: WideInteger, _ exponent: Int, isNegative: Bool
    ) -> BSONDecimal128 {
        var value = value
        var exponent = exponent
        let least = BSONDecimal128.exponents.lowerBound
        let most = BSONDecimal128.exponents.upperBound
        var excess = max(0, value.digits - BSONDecimal128.digitsMax)
        excess = max(excess, least - exponent)
        if excess > 0 {
            value.dropDigits(excess)
            exponent += excess
            // Rounding up may have made one digit too many.
            if value.digits > BSONDecimal128.digitsMax {
                value.dropDigits(1)
                exponent += 1
            }
        }
        if value.isZero { exponent = min(exponent, most) }
        while exponent > most, value.digits < BSONDecimal128.digitsMax {
            value.multiply(byPower10: 1)
            exponent -= 1
        }
        guard exponent <= most else { return isNegative ? -.infinity : .infinity }
        return BSONDecimal128(
            isNegative: isNegative, coefficient: value.low, exponent: exponent)
    }
}

/// Holds a whole number of 256 bits that is not negative.
struct WideInteger {
    private(set) var high: UInt128
    private(set) var low: UInt128

    init(_ value: UInt128) {
        high = 0
        low = value
    }

    init(high: UInt128, low: UInt128) {
        self.high = high
        self.low = low
    }

    var isZero: Bool { high == 0 && low == 0 }

    func isLess(than other: WideInteger) -> Bool {
        (high, low) < (other.high, other.low)
    }

    mutating func add(_ other: WideInteger) {
        let (sum, overflow) = low.addingReportingOverflow(other.low)
        low = sum
        high = high &+ other.high &+ (overflow ? 1 : 0)
    }

    mutating func subtract(_ other: WideInteger) {
        let (rest, overflow) = low.subtractingReportingOverflow(other.low)
        low = rest
        high = high &- other.high &- (overflow ? 1 : 0)
    }

    mutating func multiply(byPower10 power: Int) {
        for _ in 0..<power {
            let product = low.multipliedFullWidth(by: 10)
            low = product.low
            high = high &* 10 &+ product.high
        }
    }

    /// Divides by a power of ten, rounding half to even.
    mutating func dropDigits(_ count: Int) {
        var last: UInt128 = 0
        var isExact = true
        for _ in 0..<min(count, 80) {
            if last != 0 { isExact = false }
            last = dropDigit()
        }
        // More digits than there are: nothing is left to round.
        if count > 80 { return }
        if last > 5 || (last == 5 && (!isExact || low & 1 == 1)) { add(WideInteger(1)) }
    }

    private mutating func dropDigit() -> UInt128 {
        let upper = high.quotientAndRemainder(dividingBy: 10)
        let lower = UInt128(10).dividingFullWidth((upper.remainder, low))
        high = upper.quotient
        low = lower.quotient
        return lower.remainder
    }

    var digits: Int {
        guard high != 0 else { return Self.digits(low) }
        var copy = self
        var count = 0
        while copy.high != 0 {
            _ = copy.dropDigit()
            count += 1
        }
        return count + Self.digits(copy.low)
    }

    /// How many decimal digits a number has, one for zero.
    static func digits(_ value: UInt128) -> Int {
        var count = 1
        var rest = value / 10
        while rest != 0 {
            rest /= 10
            count += 1
        }
        return count
    }
}
