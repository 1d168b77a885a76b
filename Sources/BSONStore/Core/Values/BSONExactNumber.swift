/// A finite number as coefficient × 10^exponent × 2^shift, so that decimals and doubles compare
/// without rounding.
///
/// MongoDB rounds a double to 34 digits before it compares it with a decimal. Exact comparison
/// differs from that only if two numbers agree in 34 digits, and is transitive, which MongoDB's is
/// not.
struct BSONExactNumber {
    private enum Magnitude {
        case notANumber
        case infinite
        case finite(coefficient: UInt128, exponent: Int, shift: Int)
    }

    private let magnitude: Magnitude
    private let isNegative: Bool

    /// Converts a whole number.
    init(_ value: Int64) {
        magnitude = .finite(coefficient: UInt128(value.magnitude), exponent: 0, shift: 0)
        isNegative = value < 0
    }

    /// Splits a double into significand and power of two.
    init(_ value: Double) {
        isNegative = value.sign == .minus
        if value.isNaN {
            magnitude = .notANumber
        } else if value.isInfinite {
            magnitude = .infinite
        } else {
            let raw = Int(value.exponentBitPattern)
            let implicit: UInt64 = raw == 0 ? 0 : 1 << 52
            magnitude = .finite(
                coefficient: UInt128(value.significandBitPattern | implicit), exponent: 0,
                shift: max(raw, 1) - 1075)
        }
    }

    /// Converts a decimal; coefficients above 34 digits count as 0 (IEEE 754-2008, 3.5.2).
    init(_ value: BSONDecimal128) {
        isNegative = value.high >> 63 == 1
        switch value.high >> 58 & 0x1F {
        case 0x1F: magnitude = .notANumber
        case 0x1E: magnitude = .infinite
        default:
            let isLarge = value.high >> 61 & 3 == 3
            let biased = Int(value.high >> (isLarge ? 47 : 49) & 0x3FFF)
            let upper = UInt128(value.high & 0x1_FFFF_FFFF_FFFF) << 64
            let coefficient = isLarge ? 0 : upper | UInt128(value.low)
            let isCanonical = coefficient < Self.power10(34)
            magnitude = .finite(
                coefficient: isCanonical ? coefficient : 0, exponent: biased - 6176, shift: 0)
        }
    }

    /// Orders two numbers; NaN is the least, zeros of both signs are equal.
    static func compare(_ left: Self, _ right: Self) -> BSONOrder {
        let (a, b) = (left.rank, right.rank)
        guard a == b else { return BSONOrder(a, b) }
        guard case .finite(let c, let e, let s) = left.magnitude,
            case .finite(let d, let f, let t) = right.magnitude, c != 0
        else { return .equal }
        let order = compare(c, e, s, d, f, t)
        return left.isNegative ? order.reversed : order
    }

    /// The place among NaN, -infinity, negative, zero, positive, infinity.
    private var rank: Int {
        switch magnitude {
        case .notANumber: 0
        case .infinite: isNegative ? 1 : 5
        case .finite(coefficient: 0, exponent: _, shift: _): 3
        case .finite: isNegative ? 2 : 4
        }
    }

    private static func compare(
        _ c: UInt128, _ e: Int, _ s: Int, _ d: UInt128, _ f: Int, _ t: Int
    ) -> BSONOrder {
        if s == 0, t == 0 { return compareDecimals(c, e, d, f) }
        // Far apart: 10^e is more than 2^(3.3 e), less than 2^(3.4 e), a double below 2^1024.
        if e > 400 || f < -400 { return .greater }
        if f > 400 || e < -400 { return .less }
        var left = WideBinaryNumber(c)
        var right = WideBinaryNumber(d)
        // c 10^e 2^s ? d 10^f 2^t with one of e, f zero: move negative powers to the other side.
        left.multiply(byPower5: max(e, 0) + max(-f, 0))
        right.multiply(byPower5: max(f, 0) + max(-e, 0))
        left.shift = s + e
        right.shift = t + f
        return WideBinaryNumber.compare(left, right)
    }

    private static func compareDecimals(
        _ c: UInt128, _ e: Int, _ d: UInt128, _ f: Int
    ) -> BSONOrder {
        let (m, n) = (digits(c) + e, digits(d) + f)
        guard m == n else { return BSONOrder(m, n) }
        if e == f { return BSONOrder(c, d) }
        return e > f ? BSONOrder(c * power10(e - f), d) : BSONOrder(c, d * power10(f - e))
    }

    private static func digits(_ value: UInt128) -> Int {
        var (count, bound): (Int, UInt128) = (1, 10)
        while value >= bound {
            count += 1
            bound *= 10
        }
        return count
    }

    private static func power10(_ exponent: Int) -> UInt128 {
        var power: UInt128 = 1
        for _ in 0..<exponent { power *= 10 }
        return power
    }
}

/// Up to 1152 bits and a power of two, on the stack.
private struct WideBinaryNumber {
    private var words = InlineArray<18, UInt64>(repeating: 0)
    private var count = 2
    /// The power of two by which the words are multiplied.
    var shift = 0

    init(_ value: UInt128) {
        words[0] = UInt64(truncatingIfNeeded: value)
        words[1] = UInt64(truncatingIfNeeded: value >> 64)
        trim()
    }

    /// Multiplies by 5^power; 128 bits × 5^400 fit.
    mutating func multiply(byPower5 power: Int) {
        var left = power
        while left > 0 {
            let step = min(left, 27)
            var factor: UInt64 = 1
            for _ in 0..<step { factor *= 5 }
            multiply(by: factor)
            left -= step
        }
    }

    private mutating func multiply(by factor: UInt64) {
        var carry: UInt64 = 0
        for index in 0..<count {
            let product = words[index].multipliedFullWidth(by: factor)
            let (low, overflow) = product.low.addingReportingOverflow(carry)
            words[index] = low
            carry = product.high &+ (overflow ? 1 : 0)
        }
        if carry != 0 {
            words[count] = carry
            count += 1
        }
    }

    private mutating func trim() {
        while count > 1, words[count - 1] == 0 { count -= 1 }
    }

    private var bitWidth: Int { count * 64 - words[count - 1].leadingZeroBitCount }

    /// Returns the 64 bits `index` words below the highest set bit; zero bits follow the last.
    private func aligned(_ index: Int) -> UInt64 {
        let lead = words[count - 1].leadingZeroBitCount
        let at = count - 1 - index
        let upper = at >= 0 ? words[at] << UInt64(lead) : 0
        guard lead > 0, at >= 1 else { return upper }
        return upper | words[at - 1] >> UInt64(64 - lead)
    }

    /// Orders two numbers that are not zero.
    static func compare(_ left: Self, _ right: Self) -> BSONOrder {
        let (m, n) = (left.bitWidth + left.shift, right.bitWidth + right.shift)
        guard m == n else { return BSONOrder(m, n) }
        for index in 0..<max(left.count, right.count) {
            let (a, b) = (left.aligned(index), right.aligned(index))
            if a != b { return BSONOrder(a, b) }
        }
        return .equal
    }
}
