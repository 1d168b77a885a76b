/// A real number with 256 bits before and 256 behind the point.
///
/// It serves the functions of decimals that have no closed form: 34 digits of a result are correct
/// even if the last few dozen bits are not. Operations that overflow wrap; the functions keep their
/// numbers small.
struct FixedPointNumber {
    /// The magnitude, least significant word first.
    private var words: [UInt64]
    private(set) var isNegative: Bool

    private static let count = 8
    /// The words behind the point.
    private static let fraction = 4

    static let zero = FixedPointNumber(0)
    static let one = FixedPointNumber(1)

    init(_ value: Int) {
        words = [UInt64](repeating: 0, count: Self.count)
        words[Self.fraction] = UInt64(value.magnitude)
        isNegative = value < 0
    }

    /// Converts a double; bits below 2 to the power -256 are lost.
    init(_ value: Double) {
        self.init(0)
        isNegative = value < 0
        guard value.isFinite, value != 0 else { return }
        let shift = Int(value.exponent) - 52 + Self.fraction * 64
        let mantissa = value.significandBitPattern | 1 << 52
        for bit in 0..<53 where mantissa >> UInt64(bit) & 1 == 1 {
            let place = shift + bit
            if (0..<Self.count * 64).contains(place) {
                words[place / 64] |= 1 << UInt64(place % 64)
            }
        }
    }

    /// Converts a finite decimal whose magnitude is at least 1E-60 and at most 1E+60.
    init(_ value: BSONDecimal128) {
        self.init(0)
        let coefficient = value.coefficient
        words[Self.fraction] = UInt64(truncatingIfNeeded: coefficient)
        words[Self.fraction + 1] = UInt64(truncatingIfNeeded: coefficient >> 64)
        for _ in 0..<max(0, value.exponent) { multiply(by: 10) }
        var divisions = max(0, -value.exponent)
        while divisions > 0 {
            let step = min(divisions, 18)
            divide(by: (0..<step).reduce(UInt64(1)) { power, _ in power * 10 })
            divisions -= step
        }
        isNegative = value.isNegative
    }

    var isZero: Bool { words.allSatisfy { $0 == 0 } }

    /// The nearest double, roughly.
    var double: Double {
        var value = 0.0
        for (index, word) in words.enumerated() {
            value +=
                Double(sign: .plus, exponent: (index - Self.fraction) * 64, significand: 1)
                * Double(word)
        }
        return isNegative ? -value : value
    }

    /// The nearest whole number.
    var rounded: FixedPointNumber {
        var result = self
        if words[Self.fraction - 1] >> 63 == 1 {
            result = result + (isNegative ? -Self.one : Self.one)
        }
        for index in 0..<Self.fraction { result.words[index] = 0 }
        return result
    }

    /// The whole part's lowest bits, for counting turns.
    var lowestBits: UInt64 { words[Self.fraction] }

    /// Returns the decimal nearest to the number times a power of ten.
    func decimal(exponent: Int = 0) -> BSONDecimal128 {
        var value = self
        value.isNegative = false
        var exponent = exponent
        guard !isZero else { return BSONDecimal128(isNegative: false, coefficient: 0, exponent: 0) }
        let most: UInt128 = 1_000_000_000_000_000_000_000_000_000_000_000_000
        while value.words[6] != 0 || value.words[7] != 0 || value.whole >= most {
            value.divide(by: 10)
            exponent += 1
        }
        while value.whole < most / 10 {
            value.multiply(by: 10)
            exponent -= 1
        }
        // A number that is whole except for its last bits is taken as whole.
        let upper = value.words[3]
        var digits = value.whole
        if upper >= UInt64.max - 0xFFFF { digits += 1 }
        let isExact = upper <= 0xFFFF || upper >= UInt64.max - 0xFFFF
        guard isExact, digits.isMultiple(of: 100) else {
            return DecimalArithmetic.rounded(
                WideInteger(digits * 10 + 1), exponent - 1, isNegative: isNegative)
        }
        while exponent < 0, digits.isMultiple(of: 10) {
            digits /= 10
            exponent += 1
        }
        return DecimalArithmetic.rounded(WideInteger(digits), exponent, isNegative: isNegative)
    }

    private var whole: UInt128 { UInt128(words[5]) << 64 | UInt128(words[4]) }

    static prefix func - (value: FixedPointNumber) -> FixedPointNumber {
        var value = value
        value.isNegative.toggle()
        return value
    }

    static func + (left: FixedPointNumber, right: FixedPointNumber) -> FixedPointNumber {
        guard left.isNegative != right.isNegative else {
            var sum = left
            var carry = false
            for index in 0..<count {
                let (partial, first) = sum.words[index].addingReportingOverflow(right.words[index])
                let (total, second) = partial.addingReportingOverflow(carry ? 1 : 0)
                sum.words[index] = total
                carry = first || second
            }
            return sum
        }
        return left.isSmaller(than: right) ? right.reduced(by: left) : left.reduced(by: right)
    }

    static func - (left: FixedPointNumber, right: FixedPointNumber) -> FixedPointNumber {
        left + -right
    }

    /// Returns the magnitude minus a smaller one, with this number's sign.
    private func reduced(by other: FixedPointNumber) -> FixedPointNumber {
        var rest = self
        var borrow = false
        for index in 0..<Self.count {
            let (partial, first) = rest.words[index].subtractingReportingOverflow(
                other.words[index])
            let (total, second) = partial.subtractingReportingOverflow(borrow ? 1 : 0)
            rest.words[index] = total
            borrow = first || second
        }
        return rest
    }

    private func isSmaller(than other: FixedPointNumber) -> Bool {
        for index in (0..<Self.count).reversed() where words[index] != other.words[index] {
            return words[index] < other.words[index]
        }
        return false
    }

    static func * (left: FixedPointNumber, right: FixedPointNumber) -> FixedPointNumber {
        var product = [UInt64](repeating: 0, count: 2 * count)
        for i in 0..<count where left.words[i] != 0 {
            var carry: UInt64 = 0
            for j in 0..<count {
                let (high, low) = left.words[i].multipliedFullWidth(by: right.words[j])
                let (first, one) = product[i + j].addingReportingOverflow(low)
                let (second, two) = first.addingReportingOverflow(carry)
                product[i + j] = second
                carry = high &+ (one ? 1 : 0) &+ (two ? 1 : 0)
            }
            product[i + count] = product[i + count] &+ carry
        }
        var result = FixedPointNumber(0)
        result.words = Array(product[fraction..<fraction + count])
        result.isNegative = left.isNegative != right.isNegative
        return result
    }

    /// Returns the quotient, computed bit by bit; zero for a divisor of zero.
    static func / (left: FixedPointNumber, right: FixedPointNumber) -> FixedPointNumber {
        guard !right.isZero else { return zero }
        var divisor = right
        divisor.isNegative = false
        var rest = zero
        var quotient = zero
        // The dividend's bits, then as many zeros as there are bits behind the point.
        for bit in (0..<(count + fraction) * 64).reversed() {
            let place = bit - fraction * 64
            let isOverflowing = rest.words[count - 1] >> 63 == 1
            rest.double(adding: place >= 0 && left.words[place / 64] >> UInt64(place % 64) & 1 == 1)
            guard isOverflowing || !rest.isSmaller(than: divisor) else { continue }
            rest = rest.reduced(by: divisor)
            if bit < count * 64 { quotient.words[bit / 64] |= 1 << UInt64(bit % 64) }
        }
        quotient.isNegative = left.isNegative != right.isNegative
        return quotient
    }

    private mutating func double(adding bit: Bool) {
        var carry: UInt64 = bit ? 1 : 0
        for index in 0..<Self.count {
            let next = words[index] >> 63
            words[index] = words[index] << 1 | carry
            carry = next
        }
    }

    /// Returns the number divided by a small one.
    func divided(by divisor: UInt64) -> FixedPointNumber {
        var value = self
        value.divide(by: divisor)
        return value
    }

    private mutating func divide(by divisor: UInt64) {
        var rest: UInt64 = 0
        for index in (0..<Self.count).reversed() {
            (words[index], rest) = divisor.dividingFullWidth((rest, words[index]))
        }
    }

    private mutating func multiply(by factor: UInt64) {
        var carry: UInt64 = 0
        for index in 0..<Self.count {
            let (high, low) = words[index].multipliedFullWidth(by: factor)
            let (sum, overflow) = low.addingReportingOverflow(carry)
            words[index] = sum
            carry = high + (overflow ? 1 : 0)
        }
    }
}
