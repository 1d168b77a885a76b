import BSONQuery

/// A whole number of any size, as the literal `10n` writes it.
package struct ScriptBigInt: Hashable, Sendable {
    /// The maximum size of a result, in bits.
    static let bitsMax = 1 << 17

    private(set) var isNegative: Bool
    /// The absolute value, the lowest 32 bits first, without zeros at the end.
    private(set) var limbs: [UInt32]

    init(_ number: Int64) {
        self.init(isNegative: number < 0, number.magnitude)
    }

    private init(isNegative: Bool, _ magnitude: UInt64) {
        self.init(
            isNegative: isNegative,
            [UInt32(truncatingIfNeeded: magnitude), UInt32(magnitude >> 32)])
    }

    private init(isNegative: Bool, _ limbs: [UInt32]) {
        self.limbs = limbs
        while self.limbs.last == 0 { self.limbs.removeLast() }
        self.isNegative = isNegative && !self.limbs.isEmpty
    }

    /// Returns a whole number; `nil` if the number is not whole.
    init?(exactly number: Double) {
        guard number.isFinite, number == number.rounded() else { return nil }
        guard let magnitude = UInt64(exactly: number.magnitude) else {
            let shift = Int(number.exponent) - 52
            let digits = UInt64(number.significandBitPattern | 1 << 52)
            self = ScriptBigInt(isNegative: number < 0, digits).shifted(left: shift)
            return
        }
        self.init(isNegative: number < 0, magnitude)
    }

    /// Reads digits; `nil` if there are none, too many or others.
    init?(digits: some StringProtocol, radix: Int = 10) {
        guard !digits.isEmpty, digits.utf8.count <= Self.bitsMax / 4 else { return nil }
        var limbs: [UInt32] = []
        for character in digits {
            guard character != "+", character != "-",
                let digit = UInt32(String(character), radix: radix)
            else { return nil }
            var carry = UInt64(digit)
            for index in limbs.indices {
                let sum = UInt64(limbs[index]) * UInt64(radix) + carry
                limbs[index] = UInt32(truncatingIfNeeded: sum)
                carry = sum >> 32
            }
            if carry > 0 { limbs.append(UInt32(carry)) }
        }
        self.init(isNegative: false, limbs)
    }

    /// Reads a text as `BigInt(…)` does: digits with a sign, or `0x`, `0o` and `0b` with digits.
    init?(text: String) {
        let text = ScriptString.trimmed(text)
        guard !text.isEmpty else {
            self.init(0)
            return
        }
        for (prefix, radix) in [("0x", 16), ("0o", 8), ("0b", 2)]
        where text.lowercased().hasBytePrefix(prefix) {
            self.init(digits: text.dropFirst(2), radix: radix)
            return
        }
        let isNegative = text.hasBytePrefix("-")
        let digits = isNegative || text.hasBytePrefix("+") ? text.dropFirst() : text[...]
        guard let number = ScriptBigInt(digits: digits) else { return nil }
        self = isNegative ? number.negated : number
    }

    var isZero: Bool { limbs.isEmpty }

    var negated: ScriptBigInt { ScriptBigInt(isNegative: !isNegative, limbs) }

    /// The number of bits of the absolute value.
    var bitCount: Int { limbs.count * 32 - (limbs.last?.leadingZeroBitCount ?? 0) }

    /// The number as 64 bits; `nil` if it does not fit.
    var int64: Int64? {
        guard limbs.count <= 2 else { return nil }
        let magnitude = limbs.reversed().reduce(UInt64(0)) { $0 << 32 | UInt64($1) }
        if isNegative, magnitude == Int64.min.magnitude { return .min }
        return Int64(exactly: magnitude).map { isNegative ? -$0 : $0 }
    }

    /// The nearest double.
    var double: Double {
        if let int64 { return Double(int64) }
        return Double(text()) ?? .nan
    }

    /// Returns the digits.
    func text(radix: Int = 10) -> String {
        guard !isZero else { return "0" }
        // As many digits at a time as 32 bits hold.
        var (chunk, digits) = (UInt32(radix), 1)
        while chunk.multipliedReportingOverflow(by: UInt32(radix)).overflow == false {
            chunk *= UInt32(radix)
            digits += 1
        }
        var parts: [String] = []
        var rest = limbs
        while !rest.isEmpty {
            let part = String(Self.divide(&rest, by: chunk), radix: radix)
            let zeros = rest.isEmpty ? 0 : digits - part.utf8.count
            parts.append(String(repeating: "0", count: zeros) + part)
        }
        return (isNegative ? "-" : "") + parts.reversed().joined()
    }

    /// The digits with commas between thousands.
    var groupedText: String {
        let digits = Array((isNegative ? negated : self).text())
        var text = isNegative ? "-" : ""
        for (index, digit) in digits.enumerated() {
            if index > 0, (digits.count - index).isMultiple(of: 3) { text += "," }
            text.append(digit)
        }
        return text
    }

    /// Divides limbs by a number and returns the remainder.
    private static func divide(_ limbs: inout [UInt32], by divisor: UInt32) -> UInt32 {
        var remainder: UInt64 = 0
        for index in limbs.indices.reversed() {
            let part = remainder << 32 | UInt64(limbs[index])
            limbs[index] = UInt32(part / UInt64(divisor))
            remainder = part % UInt64(divisor)
        }
        while limbs.last == 0 { limbs.removeLast() }
        return UInt32(remainder)
    }
}

// MARK: - Order

extension ScriptBigInt {
    /// The order of a whole number and another value.
    enum Order {
        case less
        case same
        case greater
    }

    /// Returns the order to a primitive value; `nil` if that is not a number.
    func order(to other: ScriptValue) -> Order? {
        switch other {
        case .bigInt(let other): order(to: other)
        case .string(let text): ScriptBigInt(text: text).map { order(to: $0) }
        case .undefined, .null, .bool, .number, .object: order(to: other.number)
        }
    }

    private func order(to other: ScriptBigInt) -> Order {
        self < other ? .less : self == other ? .same : .greater
    }

    private func order(to number: Double) -> Order? {
        guard !number.isNaN else { return nil }
        guard let floor = ScriptBigInt(exactly: number.rounded(.down)) else {
            return number < 0 ? .greater : .less
        }
        let order = order(to: floor)
        return order == .same && number != number.rounded(.down) ? .less : order
    }
}

// MARK: - Arithmetic

extension ScriptBigInt: Comparable {
    package static func < (left: ScriptBigInt, right: ScriptBigInt) -> Bool {
        guard left.isNegative == right.isNegative else { return left.isNegative }
        return left.isNegative
            ? isLess(right.limbs, left.limbs) : isLess(left.limbs, right.limbs)
    }

    private static func isLess(_ left: [UInt32], _ right: [UInt32]) -> Bool {
        guard left.count == right.count else { return left.count < right.count }
        return left.reversed().lexicographicallyPrecedes(right.reversed())
    }

    static func + (left: ScriptBigInt, right: ScriptBigInt) -> ScriptBigInt {
        if left.isNegative == right.isNegative {
            return ScriptBigInt(isNegative: left.isNegative, sum(left.limbs, right.limbs))
        }
        return isLess(left.limbs, right.limbs)
            ? ScriptBigInt(isNegative: right.isNegative, difference(right.limbs, left.limbs))
            : ScriptBigInt(isNegative: left.isNegative, difference(left.limbs, right.limbs))
    }

    static func - (left: ScriptBigInt, right: ScriptBigInt) -> ScriptBigInt {
        left + right.negated
    }

    static func * (left: ScriptBigInt, right: ScriptBigInt) -> ScriptBigInt {
        var product = [UInt32](repeating: 0, count: left.limbs.count + right.limbs.count)
        for (index, limb) in left.limbs.enumerated() {
            var carry: UInt64 = 0
            for (offset, other) in right.limbs.enumerated() {
                let part = UInt64(limb) * UInt64(other) + UInt64(product[index + offset]) + carry
                product[index + offset] = UInt32(truncatingIfNeeded: part)
                carry = part >> 32
            }
            product[index + right.limbs.count] = UInt32(carry)
        }
        return ScriptBigInt(isNegative: left.isNegative != right.isNegative, product)
    }

    /// Returns the quotient, rounded towards zero, and the remainder.
    ///
    /// - Precondition: the divisor is not zero.
    func divided(by divisor: ScriptBigInt) -> (quotient: ScriptBigInt, remainder: ScriptBigInt) {
        precondition(!divisor.isZero, "the divisor is not zero")
        guard !Self.isLess(limbs, divisor.limbs) else { return (ScriptBigInt(0), self) }
        var (quotient, remainder) = (limbs, [UInt32]())
        if divisor.limbs.count == 1 {
            remainder = [Self.divide(&quotient, by: divisor.limbs[0])]
        } else {
            (quotient, remainder) = Self.quotient(limbs, divisor.limbs)
        }
        return (
            ScriptBigInt(isNegative: isNegative != divisor.isNegative, quotient),
            ScriptBigInt(isNegative: isNegative, remainder)
        )
    }

    /// Returns the number with an exponent that is not negative.
    func power(_ exponent: Int) -> ScriptBigInt {
        var (result, base, rest) = (ScriptBigInt(1), self, exponent)
        while rest > 0 {
            if rest & 1 == 1 { result = result * base }
            rest >>= 1
            if rest > 0 { base = base * base }
        }
        return result
    }

    /// Returns the number times a power of two.
    func shifted(left count: Int) -> ScriptBigInt {
        let (words, bits) = (count / 32, UInt32(count % 32))
        var shifted = [UInt32](repeating: 0, count: words)
        var carry: UInt32 = 0
        for limb in limbs {
            shifted.append(limb << bits | carry)
            carry = bits == 0 ? 0 : limb >> (32 - bits)
        }
        return ScriptBigInt(isNegative: isNegative, shifted + [carry])
    }

    /// Returns the number divided by a power of two, rounded down.
    func shifted(right count: Int) -> ScriptBigInt {
        let (words, bits) = (count / 32, UInt32(count % 32))
        guard words < limbs.count else { return ScriptBigInt(isNegative ? -1 : 0) }
        var shifted = Array(limbs[words...])
        for index in shifted.indices where bits > 0 {
            let next = index + 1 < shifted.count ? shifted[index + 1] : 0
            shifted[index] = shifted[index] >> bits | next << (32 - bits)
        }
        let result = ScriptBigInt(isNegative: isNegative, shifted)
        guard isNegative, result.shifted(left: count) != self else { return result }
        return result - ScriptBigInt(1)
    }

    /// Combines the bits of two numbers in two's complement.
    static func bits(
        _ left: ScriptBigInt, _ right: ScriptBigInt, _ combine: (UInt32, UInt32) -> UInt32
    ) -> ScriptBigInt {
        let count = max(left.limbs.count, right.limbs.count) + 1
        let (first, second) = (left.complement(count), right.complement(count))
        return ScriptBigInt(complement: zip(first, second).map(combine))
    }

    /// Returns the lowest bits, with the highest of them as the sign or without a sign.
    func lowest(_ count: Int, isSigned: Bool) -> ScriptBigInt {
        guard count > 0 else { return ScriptBigInt(0) }
        let modulus = ScriptBigInt(1).shifted(left: count)
        var rest = divided(by: modulus).remainder
        if rest.isNegative { rest = rest + modulus }
        guard isSigned, rest.bitCount == count else { return rest }
        return rest - modulus
    }

    private func complement(_ count: Int) -> [UInt32] {
        let padded = limbs + [UInt32](repeating: 0, count: count - limbs.count)
        return isNegative ? Self.negated(padded) : padded
    }

    private init(complement limbs: [UInt32]) {
        let isNegative = (limbs.last ?? 0) >> 31 == 1
        self.init(isNegative: isNegative, isNegative ? Self.negated(limbs) : limbs)
    }

    private static func negated(_ limbs: [UInt32]) -> [UInt32] {
        var carry: UInt64 = 1
        return limbs.map { limb in
            let sum = UInt64(~limb) + carry
            carry = sum >> 32
            return UInt32(truncatingIfNeeded: sum)
        }
    }

    private static func sum(_ left: [UInt32], _ right: [UInt32]) -> [UInt32] {
        var sum: [UInt32] = []
        var carry: UInt64 = 0
        for index in 0..<max(left.count, right.count) {
            let first = index < left.count ? UInt64(left[index]) : 0
            let part = first + (index < right.count ? UInt64(right[index]) : 0) + carry
            sum.append(UInt32(truncatingIfNeeded: part))
            carry = part >> 32
        }
        return sum + [UInt32(carry)]
    }

    /// Subtracts the smaller of two absolute values from the larger one.
    private static func difference(_ left: [UInt32], _ right: [UInt32]) -> [UInt32] {
        var difference: [UInt32] = []
        var borrow: Int64 = 0
        for (index, limb) in left.enumerated() {
            let part = Int64(limb) - (index < right.count ? Int64(right[index]) : 0) - borrow
            difference.append(UInt32(truncatingIfNeeded: part))
            borrow = part < 0 ? 1 : 0
        }
        return difference
    }

    /// Divides an absolute value by a smaller one of at least two limbs.
    ///
    /// Source: Knuth, The Art of Computer Programming, volume 2, 4.3.1, algorithm D.
    private static func quotient(
        _ dividend: [UInt32], _ divisor: [UInt32]
    ) -> (quotient: [UInt32], remainder: [UInt32]) {
        let shift = divisor.last?.leadingZeroBitCount ?? 0
        let scaled = ScriptBigInt(isNegative: false, divisor).shifted(left: shift).limbs
        var rest = ScriptBigInt(isNegative: false, dividend).shifted(left: shift).limbs
        rest += [UInt32](repeating: 0, count: dividend.count + 1 - rest.count)
        let size = scaled.count
        let (top, second) = (UInt64(scaled[size - 1]), UInt64(scaled[size - 2]))
        var quotient = [UInt32](repeating: 0, count: rest.count - size)
        for place in quotient.indices.reversed() {
            let high = UInt64(rest[place + size]) << 32 | UInt64(rest[place + size - 1])
            var (digit, left) = (high / top, high % top)
            while digit >> 32 > 0 || digit * second > left << 32 | UInt64(rest[place + size - 2]) {
                digit -= 1
                left += top
                if left >> 32 > 0 { break }
            }
            if subtract(scaled, times: digit, from: &rest, at: place) {
                digit -= 1
                addBack(scaled, to: &rest, at: place)
            }
            quotient[place] = UInt32(digit)
        }
        let remainder = ScriptBigInt(isNegative: false, rest).shifted(right: shift).limbs
        return (quotient, remainder)
    }

    /// Subtracts a multiple and returns whether it was too much.
    private static func subtract(
        _ divisor: [UInt32], times digit: UInt64, from rest: inout [UInt32], at place: Int
    ) -> Bool {
        var (carry, borrow) = (UInt64(0), Int64(0))
        for (index, limb) in divisor.enumerated() {
            let product = digit * UInt64(limb) + carry
            carry = product >> 32
            let part = Int64(rest[place + index]) - Int64(product & 0xFFFF_FFFF) - borrow
            rest[place + index] = UInt32(truncatingIfNeeded: part)
            borrow = part < 0 ? 1 : 0
        }
        let part = Int64(rest[place + divisor.count]) - Int64(carry) - borrow
        rest[place + divisor.count] = UInt32(truncatingIfNeeded: part)
        return part < 0
    }

    private static func addBack(_ divisor: [UInt32], to rest: inout [UInt32], at place: Int) {
        var carry: UInt64 = 0
        for (index, limb) in divisor.enumerated() {
            let sum = UInt64(rest[place + index]) + UInt64(limb) + carry
            rest[place + index] = UInt32(truncatingIfNeeded: sum)
            carry = sum >> 32
        }
        rest[place + divisor.count] &+= UInt32(truncatingIfNeeded: carry)
    }
}
