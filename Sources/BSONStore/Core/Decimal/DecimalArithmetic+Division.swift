extension DecimalArithmetic {
    /// Returns the difference.
    package static func subtract(_ left: BSONDecimal128, _ right: BSONDecimal128) -> BSONDecimal128
    {
        right.kind == .nan ? .nan : add(left, -right)
    }

    /// Returns the quotient; a NaN or an infinity for a divisor of zero.
    package static func divide(_ left: BSONDecimal128, _ right: BSONDecimal128) -> BSONDecimal128 {
        let isNegative = left.isNegative != right.isNegative
        if let special = divideSpecial(left, right, isNegative: isNegative) { return special }
        let preferred = left.exponent - right.exponent
        guard left.coefficient != 0 else {
            return rounded(WideInteger(0), preferred, isNegative: isNegative)
        }
        let digits = WideInteger.digits(right.coefficient) - WideInteger.digits(left.coefficient)
        let shift = max(0, digits + BSONDecimal128.digitsMax + 2)
        var dividend = WideInteger(left.coefficient)
        dividend.multiply(byPower10: shift)
        var (quotient, rest) = right.coefficient.dividingFullWidth((dividend.high, dividend.low))
        var exponent = preferred - shift
        guard rest == 0 else {
            // One more digit, which only records that there is a remainder.
            return rounded(WideInteger(quotient * 10 + 1), exponent - 1, isNegative: isNegative)
        }
        while exponent < preferred, quotient.isMultiple(of: 10) {
            quotient /= 10
            exponent += 1
        }
        rest = quotient
        return rounded(WideInteger(rest), exponent, isNegative: isNegative)
    }

    /// Returns the remainder of a truncated division; its sign is the first number's.
    package static func remainder(_ left: BSONDecimal128, _ right: BSONDecimal128) -> BSONDecimal128
    {
        if left.kind != .finite || right.kind == .nan { return .nan }
        if right.kind == .infinite { return left }
        let (a, b) = (left.coefficient, right.coefficient)
        guard b != 0 else { return .nan }
        let distance = left.exponent - right.exponent
        if distance >= 0 {
            let rest = multiply(a % b, power(of: 10, distance, modulo: b), modulo: b)
            return BSONDecimal128(
                isNegative: left.isNegative, coefficient: rest, exponent: right.exponent)
        }
        var divisor = b
        for _ in 0 ..< -distance {
            guard divisor <= BSONDecimal128.coefficientMax else { return left }
            divisor *= 10
        }
        return BSONDecimal128(
            isNegative: left.isNegative, coefficient: a % divisor, exponent: left.exponent)
    }

    /// Returns the square root; a NaN for negative numbers.
    package static func squareRoot(_ value: BSONDecimal128) -> BSONDecimal128 {
        if value.kind == .nan { return .nan }
        if value.isNegative, value.kind == .infinite || value.coefficient != 0 { return .nan }
        guard value.kind == .finite else { return value }
        let preferred = value.exponent >> 1
        guard value.coefficient != 0 else {
            return BSONDecimal128(
                isNegative: value.isNegative, coefficient: 0, exponent: preferred)
        }
        var shift = 70 - WideInteger.digits(value.coefficient)
        if (value.exponent - shift) % 2 != 0 { shift += 1 }
        var radicand = WideInteger(value.coefficient)
        radicand.multiply(byPower10: shift)
        var (root, isExact) = radicand.squareRoot
        var exponent = (value.exponent - shift) / 2
        guard isExact else {
            return rounded(WideInteger(root * 10 + 1), exponent - 1, isNegative: false)
        }
        while exponent < preferred, root.isMultiple(of: 10) {
            root /= 10
            exponent += 1
        }
        return rounded(WideInteger(root), exponent, isNegative: false)
    }

    private static func divideSpecial(
        _ left: BSONDecimal128, _ right: BSONDecimal128, isNegative: Bool
    ) -> BSONDecimal128? {
        if left.kind == .nan || right.kind == .nan { return .nan }
        let infinity: BSONDecimal128 = isNegative ? -.infinity : .infinity
        if left.kind == .infinite { return right.kind == .infinite ? .nan : infinity }
        if right.kind == .infinite {
            return BSONDecimal128(
                isNegative: isNegative, coefficient: 0,
                exponent: BSONDecimal128.exponents.lowerBound)
        }
        guard right.coefficient == 0 else { return nil }
        return left.coefficient == 0 ? .nan : infinity
    }

    private static func multiply(
        _ left: UInt128, _ right: UInt128, modulo divisor: UInt128
    ) -> UInt128 {
        let product = (left % divisor).multipliedFullWidth(by: right % divisor)
        return divisor.dividingFullWidth((product.high, product.low)).remainder
    }

    private static func power(of base: UInt128, _ exponent: Int, modulo divisor: UInt128) -> UInt128
    {
        var result = 1 % divisor
        var square = base % divisor
        var rest = exponent
        while rest > 0 {
            if rest & 1 == 1 { result = multiply(result, square, modulo: divisor) }
            square = multiply(square, square, modulo: divisor)
            rest >>= 1
        }
        return result
    }
}

extension WideInteger {
    /// The whole part of the square root, and whether the root is exact.
    var squareRoot: (root: UInt128, isExact: Bool) {
        var root: UInt128 = 0
        for bit in (0..<128).reversed() {
            let candidate = root | 1 << UInt128(bit)
            let square = candidate.multipliedFullWidth(by: candidate)
            if !isLess(than: WideInteger(high: square.high, low: square.low)) { root = candidate }
        }
        let square = root.multipliedFullWidth(by: root)
        return (root, square.high == high && square.low == low)
    }
}
