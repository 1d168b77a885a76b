extension BSONDecimal128: CustomStringConvertible {
    /// Reads a decimal number, `Infinity`, `Inf` or `NaN`, without regard to case.
    ///
    /// Trailing zeros are kept (`1.50` is not `1.5`). A number is clamped into the range of
    /// exponents only if no digit is lost. The sign of a NaN is dropped.
    ///
    /// Source: MongoDB's BSON Decimal128 specification, "Reading from a string".
    ///
    /// - Throws: `BSONError` with code `invalidNumber` if the text is not a number, has more than
    ///   34 significant digits or is out of range.
    public init(_ text: String) throws(BSONError) {
        var text = text
        self = try text.withUTF8 { Self.parse($0) }.get()
    }

    /// Reads a decimal number, with `nil` for a text that ``init(_:)`` throws for.
    @_disfavoredOverload
    public init?(_ text: some StringProtocol) {
        do throws(BSONError) {
            try self.init(String(text))
        } catch {
            return nil
        }
    }

    /// Reads the bytes of a text; see ``init(_:)``.
    init(utf8 text: UnsafeBufferPointer<UInt8>) throws(BSONError) {
        self = try Self.parse(text).get()
    }

    /// The number as text: plain between 1E-6 and 34 digits, else scientific with `E+` or `E-`.
    ///
    /// Source: MongoDB's BSON Decimal128 specification, "Converting to a string".
    public var description: String {
        String(unsafeUninitializedCapacity: Self.textBytesMax) { buffer in
            guard let start = buffer.baseAddress else { return 0 }
            return writeText(to: start)
        }
    }

    /// The maximum number of bytes that ``description`` takes.
    static let textBytesMax = 48

    /// Stores the text in memory of ``textBytesMax`` bytes and returns its length.
    func writeText(to start: UnsafeMutablePointer<UInt8>) -> Int {
        var text = DecimalText(start: start)
        switch kind {
        case .nan: text.put("NaN")
        case .infinite: text.put(isNegative ? "-Infinity" : "Infinity")
        case .finite:
            if isNegative { text.put("-") }
            text.put(coefficient: coefficient, exponent: exponent)
        }
        return text.count
    }

    private static func parse(_ text: UnsafeBufferPointer<UInt8>) -> Result<Self, BSONError> {
        var scanner = DecimalScanner(text: text)
        let isNegative = scanner.takeSign()
        if let special = scanner.special {
            return .success(special.kind == .infinite && isNegative ? -special : special)
        }
        guard scanner.scanNumber() else {
            return .failure(BSONError(.invalidNumber, "This is not a decimal number."))
        }
        guard !scanner.isInexact, let (coefficient, exponent) = scanner.clamped else {
            return .failure(
                BSONError(.invalidNumber, "Decimal128 cannot hold this number exactly."))
        }
        return .success(
            Self(isNegative: isNegative, coefficient: coefficient, exponent: exponent))
    }
}

/// A scanner for the parts of a decimal number's text.
private struct DecimalScanner {
    let text: UnsafeBufferPointer<UInt8>
    private var at = 0
    private var coefficient: UInt128 = 0
    private var significant = 0
    private var exponent = 0
    /// Whether a digit other than zero did not fit.
    private(set) var isInexact = false

    init(text: UnsafeBufferPointer<UInt8>) { self.text = text }

    /// Steps over a sign and returns whether it was a minus.
    mutating func takeSign() -> Bool {
        guard let first = text.first else { return false }
        if first == UInt8(ascii: "-") || first == UInt8(ascii: "+") { at = 1 }
        return first == UInt8(ascii: "-")
    }

    /// Infinity or NaN, if the rest of the text is one.
    var special: BSONDecimal128? {
        if restIs("infinity") || restIs("inf") { return .infinity }
        return restIs("nan") ? .nan : nil
    }

    private func restIs(_ word: StaticString) -> Bool {
        guard text.count - at == word.utf8CodeUnitCount else { return false }
        for index in 0..<word.utf8CodeUnitCount
        where text[at + index] | 0x20 != word.utf8Start[index] { return false }
        return true
    }

    /// Reads digits with at most one point, then an exponent, up to the end.
    mutating func scanNumber() -> Bool {
        var digits = 0
        var sawPoint = false
        while at < text.count {
            let byte = text[at]
            if ExtendedJSONCharacters.isDigit(byte) {
                digits += 1
                take(digit: byte - UInt8(ascii: "0"), isFraction: sawPoint)
            } else if byte == UInt8(ascii: "."), !sawPoint {
                sawPoint = true
            } else {
                break
            }
            at += 1
        }
        guard digits > 0 else { return false }
        return at == text.count || scanExponent()
    }

    private mutating func take(digit: UInt8, isFraction: Bool) {
        if significant < BSONDecimal128.digitsMax {
            coefficient = coefficient * 10 + UInt128(digit)
            if coefficient != 0 { significant += 1 }
            if isFraction { exponent -= 1 }
        } else {
            if digit != 0 { isInexact = true }
            if !isFraction { exponent += 1 }
        }
    }

    private mutating func scanExponent() -> Bool {
        guard text[at] | 0x20 == UInt8(ascii: "e") else { return false }
        at += 1
        var isNegative = false
        if at < text.count, text[at] == UInt8(ascii: "-") || text[at] == UInt8(ascii: "+") {
            isNegative = text[at] == UInt8(ascii: "-")
            at += 1
        }
        guard at < text.count else { return false }
        var value = 0
        while at < text.count {
            guard ExtendedJSONCharacters.isDigit(text[at]) else { return false }
            if value < 1_000_000_000_000 { value = value * 10 + Int(text[at] - UInt8(ascii: "0")) }
            at += 1
        }
        exponent += isNegative ? -value : value
        return true
    }

    /// The number with its exponent in range; `nil` if a digit would be lost.
    var clamped: (coefficient: UInt128, exponent: Int)? {
        let range = BSONDecimal128.exponents
        if coefficient == 0 {
            return (0, min(max(exponent, range.lowerBound), range.upperBound))
        }
        var coefficient = coefficient
        var exponent = exponent
        while exponent > range.upperBound {
            coefficient *= 10
            exponent -= 1
            if coefficient > BSONDecimal128.coefficientMax { return nil }
        }
        while exponent < range.lowerBound {
            guard coefficient % 10 == 0 else { return nil }
            coefficient /= 10
            exponent += 1
        }
        return (coefficient, exponent)
    }
}

/// A writer of a decimal number's text in raw memory.
private struct DecimalText {
    let start: UnsafeMutablePointer<UInt8>
    private(set) var count = 0

    init(start: UnsafeMutablePointer<UInt8>) { self.start = start }

    mutating func put(_ text: StaticString) {
        (start + count).update(from: text.utf8Start, count: text.utf8CodeUnitCount)
        count += text.utf8CodeUnitCount
    }

    mutating func put(coefficient: UInt128, exponent: Int) {
        let first = count
        put(digits: coefficient)
        let digits = count - first
        let scientific = digits - 1 + exponent
        if exponent > 0 || scientific < -6 {
            if digits > 1 { insert(".", at: first + 1, repeating: 1) }
            put(scientific < 0 ? "E-" : "E+")
            put(digits: UInt128(scientific.magnitude))
        } else if exponent < 0 {
            if scientific < 0 { insert("0", at: first, repeating: -scientific) }
            insert(".", at: count + exponent, repeating: 1)
        }
    }

    private mutating func insert(_ scalar: Unicode.Scalar, at index: Int, repeating times: Int) {
        let gap = start + index
        (gap + times).update(from: gap, count: count - index)
        gap.update(repeating: UInt8(ascii: scalar), count: times)
        count += times
    }

    private mutating func put(digits value: UInt128) {
        let half: UInt128 = 100_000_000_000_000_000
        let (upper, lower) = value.quotientAndRemainder(dividingBy: half)
        put(digits: UInt64(upper), width: 0)
        put(digits: UInt64(lower), width: upper == 0 ? 1 : 17)
    }

    /// Stores at least `width` digits.
    private mutating func put(digits value: UInt64, width: Int) {
        var length = 0
        var rest = value
        while rest > 0 {
            length += 1
            rest /= 10
        }
        length = max(length, width)
        rest = value
        for index in (0..<length).reversed() {
            start[count + index] = UInt8(ascii: "0") + UInt8(truncatingIfNeeded: rest % 10)
            rest /= 10
        }
        count += length
    }
}
