/// A non-negative whole number of 256 bits.
package struct WideInteger {
    private(set) var high: UInt128
    private(set) var low: UInt128

    package init(_ value: UInt128) {
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
        // More digits than there are: nothing remains to round.
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

    /// Returns the number of decimal digits, one for zero.
    package static func digits(_ value: UInt128) -> Int {
        var count = 1
        var rest = value / 10
        while rest != 0 {
            rest /= 10
            count += 1
        }
        return count
    }
}
