/// Addition and multiplication of decimals of 34 digits, rounding half to even.
///
/// Source: IEEE 754-2008, sections 5.1 and 6; results have the preferred exponent where it fits.
package enum DecimalArithmetic {
    /// Returns the sum.
    package static func add(_ left: BSONDecimal128, _ right: BSONDecimal128) -> BSONDecimal128 {
        if left.kind != .finite || right.kind != .finite { return addSpecial(left, right) }
        var (high, low) = left.exponent >= right.exponent ? (left, right) : (right, left)
        let distance = high.exponent - low.exponent
        // A zero with the larger exponent only affects the sign.
        if high.coefficient == 0 { swap(&high, &low) }
        guard high.exponent >= low.exponent else {
            return sum(low, high, distance: 0, exponent: high.exponent)
        }
        guard distance > 38, low.coefficient != 0 else {
            return sum(high, low, distance: distance, exponent: low.exponent)
        }
        // The exponents are so far apart that the small number only decides about rounding.
        var big = WideInteger(high.coefficient)
        big.multiply(byPower10: 38)
        let least = WideInteger(1)
        if high.isNegative == low.isNegative { big.add(least) } else { big.subtract(least) }
        return rounded(big, high.exponent - 38, isNegative: high.isNegative)
    }

    /// Returns the product.
    package static func multiply(_ left: BSONDecimal128, _ right: BSONDecimal128) -> BSONDecimal128
    {
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
            // The small number is zero: keep as many digits as fit.
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

    /// Rounds a number to 34 digits and a valid exponent.
    package static func rounded(
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
