import BSONQuery

/// The substrings of texts as in ECMAScript, which counts in UTF-16 units.
enum ScriptString {
    static func trimmed(_ text: String, start: Bool = true, end: Bool = true) -> String {
        var scalars = text.unicodeScalars[...]
        func isSpace(_ scalar: Unicode.Scalar?) -> Bool {
            scalar.map { $0.properties.isWhitespace || $0 == "\u{FEFF}" } ?? false
        }
        while start, isSpace(scalars.first) { scalars.removeFirst() }
        while end, isSpace(scalars.last) { scalars.removeLast() }
        return String(scalars)
    }

    static func string(_ units: some Collection<UInt16>) -> String {
        String(decoding: units, as: UTF16.self)
    }

    /// Returns a range of a text's units.
    static func units(_ text: String, _ range: Range<Int>) -> String {
        let units = text.utf16
        let start = units.index(units.startIndex, offsetBy: range.lowerBound)
        let part = units[start..<units.index(start, offsetBy: range.count)]
        // Only a range that begins or ends inside a surrogate pair must be decoded.
        return String(part) ?? string(part)
    }

    /// Returns a range of a text's bytes.
    static func bytes(_ text: String, _ range: Range<Int>) -> String {
        let bytes = text.utf8
        let start = bytes.index(bytes.startIndex, offsetBy: range.lowerBound)
        return String(
            decoding: bytes[start..<bytes.index(start, offsetBy: range.count)], as: UTF8.self)
    }

    /// Returns the number of units before a byte.
    static func unit(_ text: String, byte: Int) -> Int {
        let index = text.utf8.index(text.startIndex, offsetBy: byte)
        return text.utf16.distance(from: text.startIndex, to: index)
    }

    /// Returns the byte at which a unit's character begins; inside a pair, `isUp` returns the next
    /// one.
    static func byte(_ text: String, unit: Int, isUp: Bool) -> Int {
        let units = text.utf16
        let index = units.index(units.startIndex, offsetBy: unit)
        let byte = text.utf8.distance(from: text.startIndex, to: index)
        let isInPair = index < units.endIndex && UTF16.isTrailSurrogate(units[index])
        return isInPair && isUp ? byte + 4 : byte
    }

    /// Returns the byte at which the next character begins.
    static func byte(_ text: String, after byte: Int) -> Int {
        let bytes = text.utf8
        var index = bytes.index(bytes.startIndex, offsetBy: byte)
        var next = byte
        repeat {
            next += 1
            guard next < bytes.count else { break }
            index = bytes.index(after: index)
        } while bytes[index] & 0xC0 == 0x80
        return next
    }

    /// Returns the first or the last of some byte offsets at which a part occurs.
    static func place(
        of part: String, in text: String, _ places: Range<Int>, isLast: Bool
    ) -> Int? {
        var (part, text) = (part, text)
        return text.withUTF8 { text in
            part.withUTF8 { part in
                guard let first = part.first else { return isLast ? places.last : places.first }
                func isThere(_ place: Int) -> Bool {
                    text[place] == first
                        && text[place..<place + part.count].elementsEqual(part)
                }
                return isLast ? places.last(where: isThere) : places.first(where: isThere)
            }
        }
    }

    /// Returns one unit as a text, `undefined` beyond the end.
    static func character(_ text: String, _ index: Int?) -> ScriptValue {
        guard let index, 0..<text.utf16.count ~= index else { return .undefined }
        return .string(units(text, index..<index + 1))
    }

    /// Returns a position between 0 and a count; negative ones count from the end.
    static func place(_ value: ScriptValue?, count: Int, otherwise: Int) -> Int {
        guard let value, !isUndefined(value) else { return otherwise }
        let index = value.integer
        return index < 0 ? max(0, count + index) : min(index, count)
    }

    static func isUndefined(_ value: ScriptValue) -> Bool {
        if case .undefined = value { true } else { false }
    }

    /// Returns the result of `parseInt`.
    static func whole(_ text: String, _ arguments: [ScriptValue]) -> Double {
        var digits = trimmed(text)[...]
        let isNegative = digits.hasBytePrefix("-")
        if isNegative || digits.hasBytePrefix("+") { digits.removeFirst() }
        var radix = arguments.count > 1 ? arguments[1].integer : 0
        if radix == 0 || radix == 16, digits.hasBytePrefix("0x") || digits.hasBytePrefix("0X") {
            digits = digits.dropFirst(2)
            radix = 16
        }
        if radix == 0 { radix = 10 }
        guard 2...36 ~= radix else { return .nan }
        var value = 0.0
        var isAny = false
        for character in digits {
            guard character.isASCII, let digit = Int(String(character), radix: radix) else { break }
            value = value * Double(radix) + Double(digit)
            isAny = true
        }
        return isAny ? (isNegative ? -value : value) : .nan
    }

    /// Returns the result of `parseFloat`.
    static func leadingNumber(_ text: String) -> Double {
        let text = trimmed(text)
        for word in ["Infinity", "+Infinity", "-Infinity"] where text.hasBytePrefix(word) {
            return word == "-Infinity" ? -.infinity : .infinity
        }
        var prefix = String(text.prefix { "+-.eE0123456789".contains($0) })
        while !prefix.isEmpty {
            let value = ScriptNumber.value(of: prefix)
            if !value.isNaN { return value }
            prefix.removeLast()
        }
        return .nan
    }

    /// Returns a text in which all bytes but letters, digits and some marks are escaped.
    static func percentEncoded(_ text: String) -> String {
        var encoded = ""
        for byte in text.utf8 {
            let scalar = Unicode.Scalar(byte)
            if scalar.isASCII,
                scalar.properties.isAlphabetic || ("0"..."9").contains(scalar)
                    || "-_.!~*'()".unicodeScalars.contains(scalar)
            {
                encoded.unicodeScalars.append(scalar)
            } else {
                encoded += "%" + (byte < 16 ? "0" : "") + String(byte, radix: 16, uppercase: true)
            }
        }
        return encoded
    }

    /// Returns the text before it was escaped; `nil` if it is invalid.
    static func percentDecoded(_ text: String) -> String? {
        PercentEscapes.decoded(text).flatMap { String(validating: $0, as: UTF8.self) }
    }
}
