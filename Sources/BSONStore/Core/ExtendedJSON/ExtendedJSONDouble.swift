/// The conversion of a decimal number of up to 19 digits to the nearest double.
///
/// Source: Daniel Lemire, "Number Parsing at a Gigabyte per Second" (2021): exact arithmetic for
/// small exponents (Clinger), else one or two products with a 128-bit power of five.
enum ExtendedJSONDouble {
    /// The exponents of ten that the table covers; others are rare and take the slow path.
    static let exponents = -100...100

    /// Returns the double nearest to `mantissa * 10^exponent`, or `nil` if the slow path must
    /// decide.
    @inline(__always)
    static func make(_ mantissa: UInt64, exponent: Int) -> Double? {
        if mantissa <= 1 << 53, -22...22 ~= exponent {
            let exact = Double(mantissa)
            return exponent < 0 ? exact / tens[-exponent] : exact * tens[exponent]
        }
        if mantissa == 0 { return 0 }
        return rounded(mantissa, exponent)
    }

    @inline(never)
    private static func rounded(_ mantissa: UInt64, _ exponent: Int) -> Double? {
        guard exponents.contains(exponent) else { return nil }
        let power = powers[exponent - exponents.lowerBound]
        let shift = mantissa.leadingZeroBitCount
        let normal = mantissa << UInt64(shift)
        var (high, low) = normal.multipliedFullWidth(by: UInt64(truncatingIfNeeded: power >> 64))
        if high & 0x1FF == 0x1FF {
            let second = normal.multipliedFullWidth(by: UInt64(truncatingIfNeeded: power)).high
            low &+= second
            if second > low { high += 1 }
            if low == .max { return nil }
        }
        let top = Int(high >> 63)
        let drop = UInt64(top + 64 - 52 - 3)
        var bits = high >> drop
        var binary = ((217_706 * exponent) >> 16) + 63 + top - shift + 1_023
        guard binary > 0 else { return nil }
        let mayBeHalf = low <= 1 && -4...23 ~= exponent && bits & 3 == 1
        if mayBeHalf, bits << drop == high { bits &= ~1 }
        bits = (bits + (bits & 1)) >> 1
        if bits >= 2 << 52 {
            bits = 1 << 52
            binary += 1
        }
        guard binary < 0x7FF else { return nil }
        return Double(bitPattern: UInt64(binary) << 52 | bits & ~(1 << 52))
    }

    private static let tens: [Double] = [
        1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15, 1e16,
        1e17, 1e18, 1e19, 1e20, 1e21, 1e22,
    ]

    /// The upper 128 bits of each power of five, computed once; negative powers are reciprocals.
    private static let powers: [UInt128] = {
        var negative: [UInt128] = []
        var reciprocal = WideInteger(power: 511)
        for exponent in 1 ... -exponents.lowerBound {
            reciprocal.divideByFive()
            // The table of the source rounds up the reciprocals that look exact.
            negative.append(reciprocal.upper + (exponent <= 27 ? 1 : 0))
        }
        var positive: [UInt128] = []
        var power = WideInteger(power: 0)
        for _ in 0...exponents.upperBound {
            positive.append(power.upper)
            power.multiplyByFive()
        }
        return negative.reversed() + positive
    }()

    /// A whole number of 512 bits, least significant word first.
    private struct WideInteger {
        var words = [UInt64](repeating: 0, count: 8)

        /// Creates a power of two.
        init(power: Int) { words[power / 64] = 1 << UInt64(power % 64) }

        mutating func multiplyByFive() {
            var carry: UInt64 = 0
            for index in words.indices {
                let (high, low) = words[index].multipliedFullWidth(by: 5)
                let (sum, overflow) = low.addingReportingOverflow(carry)
                words[index] = sum
                carry = high + (overflow ? 1 : 0)
            }
        }

        mutating func divideByFive() {
            var remainder: UInt64 = 0
            for index in words.indices.reversed() {
                let (quotient, rest) = UInt64(5).dividingFullWidth((remainder, words[index]))
                words[index] = quotient
                remainder = rest
            }
        }

        /// The 128 bits that begin with the highest set bit.
        var upper: UInt128 {
            let top = words.lastIndex { $0 != 0 } ?? 0
            let first = UInt128(words[top]) << 64 | UInt128(top > 0 ? words[top - 1] : 0)
            let shift = words[top].leadingZeroBitCount
            if shift == 0 { return first }
            let next = UInt128(top > 1 ? words[top - 2] : 0)
            return first << UInt128(shift) | next >> UInt128(64 - shift)
        }
    }
}
