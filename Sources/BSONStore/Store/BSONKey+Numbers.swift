extension BSONKey {
    /// Appends the greatest double that is not above the number, as order-preserving bytes, then 0
    /// when it is the number itself, else 1 and the number's decimal digits.
    static func append(number value: Double, to key: inout [UInt8]) {
        append(floor: value, to: &key)
        key.append(0)
    }

    static func append(number value: Int64, to key: inout [UInt8]) {
        var floor = Double(value)
        if floor >= 0x1p63 || Int64(floor) > value { floor = floor.nextDown }
        append(floor: floor, to: &key)
        guard Int64(floor) != value else { return key.append(0) }
        appendDigits(
            of: UInt128(value.magnitude), exponent: 0, isNegative: value < 0, to: &key)
    }

    static func append(number value: BSONDecimal128, to key: inout [UInt8]) {
        switch DecimalParts(value) {
        case .nan: append(number: Double.nan, to: &key)
        case .infinite(let isNegative):
            append(number: isNegative ? -Double.infinity : .infinity, to: &key)
        case .finite(let isNegative, let coefficient, let exponent):
            append(isNegative, coefficient, exponent, to: &key)
        }
    }

    private static func append(
        _ isNegative: Bool, _ coefficient: UInt128, _ exponent: Int, to key: inout [UInt8]
    ) {
        guard coefficient != 0 else { return append(number: 0.0, to: &key) }
        // Correctly rounded by the C library, so it is the number or one of its two neighbours.
        let nearest = Double("\(coefficient)e\(exponent)") ?? .infinity
        let order = ExactNumber.compare(nearest, coefficient: coefficient, exponent: exponent)
        var floor = isNegative ? -nearest : nearest
        if isNegative ? order < 0 : order > 0 { floor = floor.nextDown }
        append(floor: floor, to: &key)
        guard order != 0 else { return key.append(0) }
        appendDigits(of: coefficient, exponent: exponent, isNegative: isNegative, to: &key)
    }

    /// Eight bytes whose order is the order of doubles; NaN comes first, zero has no sign.
    private static func append(floor value: Double, to key: inout [UInt8]) {
        guard !value.isNaN else { return append(bigEndian: UInt64(0), to: &key) }
        let bits = value == 0 ? 0 : value.bitPattern
        let ordered = bits & (1 << 63) == 0 ? bits | (1 << 63) : ~bits
        append(bigEndian: ordered, to: &key)
    }

    /// Magnitude of the first digit, then the digits in pairs, all inverted for negative numbers.
    private static func appendDigits(
        of coefficient: UInt128, exponent: Int, isNegative: Bool, to key: inout [UInt8]
    ) {
        var digits = Array(String(coefficient).utf8.map { $0 - UInt8(ascii: "0") })
        let magnitude = UInt16(truncatingIfNeeded: digits.count + exponent + 0x4000)
        while digits.last == 0 { digits.removeLast() }
        key.append(1)
        var tail: [UInt8] = []
        append(bigEndian: magnitude, to: &tail)
        for index in stride(from: 0, to: digits.count, by: 2) {
            let second = index + 1 < digits.count ? digits[index + 1] : 0
            tail.append(digits[index] * 10 + second + 1)
        }
        tail.append(0)
        key += isNegative ? tail.map { ~$0 } : tail
    }
}

/// The value of a Decimal128 as sign, coefficient and power of ten.
///
/// Source: IEEE 754-2008 section 3.5.2, binary integer decimal encoding.
enum DecimalParts {
    case nan
    case infinite(isNegative: Bool)
    case finite(isNegative: Bool, coefficient: UInt128, exponent: Int)

    /// Reads the two halves; a coefficient above 34 digits stands for zero.
    init(_ value: BSONDecimal128) {
        let isNegative = value.high >> 63 == 1
        let combination = (value.high >> 58) & 0x1F
        if combination == 0x1F {
            self = .nan
        } else if combination == 0x1E {
            self = .infinite(isNegative: isNegative)
        } else if combination >= 0x18 {
            let exponent = Int((value.high >> 47) & 0x3FFF) - 6176
            self = .finite(isNegative: isNegative, coefficient: 0, exponent: exponent)
        } else {
            let exponent = Int((value.high >> 49) & 0x3FFF) - 6176
            let upper = UInt128(value.high & 0x1_FFFF_FFFF_FFFF)
            let coefficient = upper << 64 | UInt128(value.low)
            let isCanonical = coefficient <= 9_999_999_999_999_999_999_999_999_999_999_999
            self = .finite(
                isNegative: isNegative, coefficient: isCanonical ? coefficient : 0,
                exponent: exponent)
        }
    }
}

/// Compares numbers of base two and base ten without rounding.
enum ExactNumber {
    /// The order of a double that is not negative and of `coefficient * 10^exponent`: -1, 0, 1.
    static func compare(_ double: Double, coefficient: UInt128, exponent: Int) -> Int {
        guard double.isFinite else { return 1 }
        guard double != 0 else { return coefficient == 0 ? 0 : -1 }
        var left = Natural(UInt128(double.significandBitPattern))
        var power = -1074
        if double.isNormal {
            left = Natural(UInt128(double.significandBitPattern | 1 << 52))
            power = Int(double.exponent) - 52
        }
        var right = Natural(coefficient)
        for _ in 0..<abs(exponent) {
            if exponent < 0 { left.multiply(by: 5) } else { right.multiply(by: 5) }
        }
        power -= exponent
        if power < 0 { right.shiftLeft(-power) } else { left.shiftLeft(power) }
        return left.compare(right)
    }

    /// A whole number of any size, least significant digit first.
    private struct Natural {
        var digits: [UInt32]

        init(_ value: UInt128) {
            digits = []
            var rest = value
            while rest != 0 {
                digits.append(UInt32(truncatingIfNeeded: rest))
                rest >>= 32
            }
        }

        mutating func multiply(by factor: UInt64) {
            var carry: UInt64 = 0
            for index in digits.indices {
                let product = UInt64(digits[index]) * factor + carry
                digits[index] = UInt32(truncatingIfNeeded: product)
                carry = product >> 32
            }
            if carry != 0 { digits.append(UInt32(carry)) }
        }

        mutating func shiftLeft(_ count: Int) {
            for _ in 0..<count % 32 { multiply(by: 2) }
            digits.insert(contentsOf: repeatElement(0, count: count / 32), at: 0)
        }

        func compare(_ other: Natural) -> Int {
            if digits.count != other.digits.count {
                return digits.count < other.digits.count ? -1 : 1
            }
            for (left, right) in zip(digits.reversed(), other.digits.reversed()) where left != right {
                return left < right ? -1 : 1
            }
            return 0
        }
    }
}
