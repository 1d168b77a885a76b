/// The parsing of numbers in texts for `$convert`.
enum ExpressionNumberParser {
    /// Parses a whole number in decimal digits with an optional sign.
    ///
    /// - Throws: `conversionFailure` for another text or a number that does not fit.
    static func whole<Number: FixedWidthInteger>(_ text: String) throws(StoreError) -> Number {
        try checkDecimal(text)
        var digits = Array(text.utf8)[...]
        let isNegative = digits.first == UInt8(ascii: "-")
        if isNegative || digits.first == UInt8(ascii: "+") { digits.removeFirst() }
        guard !digits.isEmpty else { throw failure(text, "No digits") }
        var magnitude: UInt64 = 0
        for byte in digits {
            guard ExtendedJSONCharacters.isDigit(byte) else {
                throw failure(text, "Did not consume whole string.")
            }
            let (product, isTooLarge) = magnitude.multipliedReportingOverflow(by: 10)
            let (sum, overflow) = product.addingReportingOverflow(UInt64(byte & 0x0F))
            guard !isTooLarge, !overflow else { throw failure(text, "Overflow") }
            magnitude = sum
        }
        let value = isNegative ? -Int128(magnitude) : Int128(magnitude)
        guard let number = Number(exactly: value) else { throw failure(text, "Overflow") }
        return number
    }

    /// Parses a double in C's syntax, an infinity or NaN; hexadecimal digits follow a sign or `0X`.
    ///
    /// - Throws: `conversionFailure` for another text or a number out of range.
    static func double(_ text: String) throws(StoreError) -> Double {
        try checkDecimal(text)
        guard let first = text.utf8.first else { throw failure(text, "Empty string") }
        if first == 0x20 || (0x09...0x0D).contains(first) {
            throw failure(text, "Leading whitespace")
        }
        if isHexadecimal(text) {
            guard let number = Double(text) else {
                throw failure(text, "Did not consume whole string.")
            }
            guard number.isFinite else { throw failure(text, "Out of range") }
            return number
        }
        let (count, isZero) = scan(Array(text.utf8))
        guard count == text.utf8.count else {
            if let special = special(text) { return special }
            throw failure(
                text, count == 0 ? "Did not consume any digits" : "Did not consume whole string.")
        }
        let number = Double(text) ?? .nan
        guard number.isFinite, isZero || number != 0 else { throw failure(text, "Out of range") }
        return number
    }

    /// Parses a decimal, rounded to 34 digits, an infinity or NaN.
    ///
    /// - Throws: `conversionFailure` for another text or a number out of range.
    static func decimal(_ text: String) throws(StoreError) -> BSONDecimal128 {
        try checkDecimal(text)
        guard !text.isEmpty else { throw failure(text, "Empty string") }
        if let special = special(text) {
            if special.isNaN { return text.hasBytePrefix("-") ? -.nan : .nan }
            return special < 0 ? -.infinity : .infinity
        }
        let bytes = Array(text.utf8)
        guard scan(bytes).count == bytes.count else {
            throw failure(text, "Failed to parse string to decimal")
        }
        var coefficient: UInt128 = 0
        var exponent = 0
        var isFraction = false
        var isInexact = false
        let mantissa = bytes.prefix { $0 | 0x20 != UInt8(ascii: "e") }
        for byte in mantissa where ExtendedJSONCharacters.isDigit(byte) || byte == UInt8(ascii: ".")
        {
            if byte == UInt8(ascii: ".") {
                isFraction = true
            } else if coefficient < 1_000_000_000_000_000_000_000_000_000_000_000_000 {
                coefficient = coefficient * 10 + UInt128(byte & 0x0F)
                if isFraction { exponent -= 1 }
            } else {
                if byte & 0x0F != 0 { isInexact = true }
                if !isFraction { exponent += 1 }
            }
        }
        var power = 0
        let tail = bytes.dropFirst(mantissa.count + 1)
        for byte in tail where ExtendedJSONCharacters.isDigit(byte) && power < 100_000 {
            power = power * 10 + Int(byte & 0x0F)
        }
        exponent += tail.first == UInt8(ascii: "-") ? -power : power
        // One more digit records that there was a remainder.
        let value = coefficient * 10 + (isInexact ? 1 : 0)
        let isExact = !isInexact && WideInteger.digits(coefficient) <= BSONDecimal128.digitsMax
        let number = DecimalArithmetic.rounded(
            WideInteger(isExact ? coefficient : value), isExact ? exponent : exponent - 1,
            isNegative: bytes.first == UInt8(ascii: "-"))
        if number.kind == .infinite {
            throw failure(text, "Conversion from string to decimal would overflow")
        }
        if number.isZero, coefficient != 0 {
            throw failure(text, "Conversion from string to decimal would underflow")
        }
        return number
    }

    /// Returns the number of bytes of a leading number, and whether all its digits are zeros.
    private static func scan(_ bytes: [UInt8]) -> (count: Int, isZero: Bool) {
        var at = 0
        var digits = 0
        var isZero = true
        func isNext(_ character: Unicode.Scalar) -> Bool {
            at < bytes.count && bytes[at] == UInt8(ascii: character)
        }
        if isNext("+") || isNext("-") { at += 1 }
        func scanDigits() {
            while at < bytes.count, ExtendedJSONCharacters.isDigit(bytes[at]) {
                if bytes[at] != UInt8(ascii: "0") { isZero = false }
                digits += 1
                at += 1
            }
        }
        scanDigits()
        if isNext(".") {
            at += 1
            scanDigits()
        }
        guard digits > 0 else { return (0, true) }
        let mantissa = at
        guard isNext("e") || isNext("E") else { return (at, isZero) }
        at += 1
        if isNext("+") || isNext("-") { at += 1 }
        let exponent = at
        while at < bytes.count, ExtendedJSONCharacters.isDigit(bytes[at]) { at += 1 }
        return (at > exponent ? at : mantissa, isZero)
    }

    private static func special(_ text: String) -> Double? {
        switch ExpressionString.lower(text) {
        case "inf", "infinity", "+inf", "+infinity": .infinity
        case "-inf", "-infinity": -.infinity
        case "nan", "+nan", "-nan": .nan
        default: nil
        }
    }

    private static func isHexadecimal(_ text: String) -> Bool {
        let isSigned = text.hasBytePrefix("+") || text.hasBytePrefix("-")
        let prefix = text.utf8.dropFirst(isSigned ? 1 : 0).prefix(2)
        return prefix.elementsEqual("0x".utf8) || prefix.elementsEqual("0X".utf8)
    }

    private static func checkDecimal(_ text: String) throws(StoreError) {
        guard text.hasBytePrefix("0x") else { return }
        throw ExpressionConversion.failure(
            "Illegal hexadecimal input in $convert with no onError value: \(text)")
    }

    private static func failure(_ text: String, _ reason: String) -> StoreError {
        ExpressionConversion.failure(
            "Failed to parse number '\(text)' in $convert with no onError value: \(reason)")
    }
}
