extension ExtendedJSONParser {
    /// Reads a JSON string and stores it as a BSON string: length, bytes, NUL.
    @inline(__always)
    mutating func readString() throws(BSONError) {
        let lengthIndex = out.count
        out.reserve(4)
        out.put(little: 0 as Int32)
        try readCharacters()
        out.reserve(1)
        out.put(0 as UInt8)
        out.patch(length: out.count - lengthIndex - 4, at: lengthIndex)
    }

    /// Reads a JSON string without NUL and stores it as a C string.
    @inline(__always)
    mutating func readCString() throws(BSONError) {
        let opening = cursor
        let from = out.count
        let hadEscape = try readCharacters()
        if _slowPath(hadEscape) {
            for index in from..<out.count where out.base[index] == 0 {
                throw fault(.embeddedNull, "A key or pattern cannot hold NUL.", at: opening)
            }
        }
        out.reserve(1)
        out.put(0 as UInt8)
    }

    /// Reads a JSON string and stores its bytes; returns whether it had an escape.
    @discardableResult
    @inline(__always)
    mutating func readCharacters() throws(BSONError) -> Bool {
        let opening = cursor
        var hadEscape = false
        cursor += 1
        while true {
            while end - cursor >= 8 {
                let word = UInt64(
                    littleEndian: UnsafeRawPointer(cursor).loadUnaligned(as: UInt64.self))
                out.reserve(8)
                UnsafeMutableRawPointer(out.tail).storeBytes(of: word.littleEndian, as: UInt64.self)
                let special = ExtendedJSONCharacters.special(word) | word & 0x8080_8080_8080_8080
                let clean = special == 0 ? 8 : special.trailingZeroBitCount >> 3
                out.count += clean
                cursor += clean
                if special != 0 { break }
            }
            guard cursor < end else {
                throw fault(.invalidJSON, "A string does not end.", at: opening)
            }
            let byte = cursor.pointee
            if byte == UInt8(ascii: "\"") { break }
            if byte >= 0x20, byte < 0x80, byte != UInt8(ascii: "\\") {
                out.reserve(1)
                out.put(byte)
                cursor += 1
            } else {
                if byte == UInt8(ascii: "\\") { hadEscape = true }
                try readUnusual(byte)
            }
        }
        cursor += 1
        return hadEscape
    }

    /// Reads an escape or a character outside of ASCII; refuses control characters.
    @inline(never)
    private mutating func readUnusual(_ byte: UInt8) throws(BSONError) {
        if byte == UInt8(ascii: "\\") { return try readEscape() }
        if byte < 0x20 { throw fault(.invalidJSON, "A control character must be escaped.") }
        guard let length = ExtendedJSONCharacters.sequenceLength(cursor, end) else {
            throw fault(.invalidUTF8, "The text is not UTF-8.")
        }
        out.reserve(length)
        for index in 0..<length { out.put(cursor[index]) }
        cursor += length
    }

    private mutating func readEscape() throws(BSONError) {
        guard end - cursor >= 2 else { throw fault(.invalidJSON, "An escape is cut short.") }
        let plain: UInt8
        switch cursor[1] {
        case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"): plain = cursor[1]
        case UInt8(ascii: "b"): plain = 0x08
        case UInt8(ascii: "f"): plain = 0x0C
        case UInt8(ascii: "n"): plain = 0x0A
        case UInt8(ascii: "r"): plain = 0x0D
        case UInt8(ascii: "t"): plain = 0x09
        case UInt8(ascii: "u"): return try readUnicodeEscape()
        default: throw fault(.invalidJSON, "JSON has no such escape.")
        }
        out.reserve(1)
        out.put(plain)
        cursor += 2
    }

    private mutating func readUnicodeEscape() throws(BSONError) {
        let opening = cursor
        var code = UInt32(try readCodeUnit())
        if code & 0xFC00 == 0xD800 {
            guard end - cursor >= 2, cursor[0] == UInt8(ascii: "\\"), cursor[1] == UInt8(ascii: "u")
            else { throw fault(.invalidJSON, "A surrogate stands alone.", at: opening) }
            let low = UInt32(try readCodeUnit())
            guard low & 0xFC00 == 0xDC00 else {
                throw fault(.invalidJSON, "A surrogate stands alone.", at: opening)
            }
            code = 0x10000 + (code & 0x3FF) << 10 + low & 0x3FF
        }
        guard let scalar = Unicode.Scalar(code) else {
            throw fault(.invalidJSON, "A surrogate stands alone.", at: opening)
        }
        out.reserve(4)
        for unit in UTF8.encode(scalar) ?? UTF8.encodedReplacementCharacter { out.put(unit) }
    }

    /// Reads `\u` with its four digits.
    private mutating func readCodeUnit() throws(BSONError) -> UInt16 {
        guard end - cursor >= 6 else { throw fault(.invalidJSON, "An escape is cut short.") }
        var code: UInt16 = 0
        for index in 2..<6 {
            guard let digit = ExtendedJSONCharacters.hexValue(cursor[index]) else {
                throw fault(.invalidJSON, "An escape needs four hexadecimal digits.")
            }
            code = code << 4 | UInt16(digit)
        }
        cursor += 6
        return code
    }
}
