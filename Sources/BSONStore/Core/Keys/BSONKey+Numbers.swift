extension BSONKey {
    /// Appends the greatest double that is not above the number, as order-preserving bytes, then 0
    /// if it equals the number, else 1 and the number's decimal digits.
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
        switch value.kind {
        case .nan: append(number: Double.nan, to: &key)
        case .infinite: append(number: value.isNegative ? -Double.infinity : .infinity, to: &key)
        case .finite: append(finite: value, to: &key)
        }
    }

    private static func append(finite value: BSONDecimal128, to key: inout [UInt8]) {
        let coefficient = value.coefficient
        let exponent = value.exponent
        guard coefficient != 0 else { return append(number: 0.0, to: &key) }
        // The C library rounds correctly, so this is the number or one of its two neighbours.
        let magnitude = Double("\(coefficient)e\(exponent)") ?? .infinity
        var floor = value.isNegative ? -magnitude : magnitude
        let order = BSONNumber.compare(.double(floor), .decimal(value))
        if order == .greater { floor = floor.nextDown }
        append(floor: floor, to: &key)
        guard order != .equal else { return key.append(0) }
        appendDigits(
            of: coefficient, exponent: exponent, isNegative: value.isNegative, to: &key)
    }

    /// Appends eight bytes that sort as doubles do; NaN is first, zero has no sign.
    private static func append(floor value: Double, to key: inout [UInt8]) {
        guard !value.isNaN else { return append(bigEndian: UInt64(0), to: &key) }
        let bits = value == 0 ? 0 : value.bitPattern
        let ordered = bits & (1 << 63) == 0 ? bits | (1 << 63) : ~bits
        append(bigEndian: ordered, to: &key)
    }

    /// Appends the first digit's magnitude, then digits in pairs, all inverted for negative
    /// numbers.
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
