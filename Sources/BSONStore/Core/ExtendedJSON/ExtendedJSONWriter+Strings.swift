extension ExtendedJSONWriter {
    /// Writes a BSON string (length, bytes, NUL) as a JSON string.
    @inline(__always)
    mutating func writeString(_ cursor: UnsafePointer<UInt8>) -> UnsafePointer<UInt8> {
        let count = Int(Self.load(cursor, as: Int32.self)) - 1
        writeEscaped(cursor + 4, count: count)
        return cursor + 5 + count
    }

    /// Writes NUL-terminated bytes as a JSON string, eight per step.
    @inline(__always)
    mutating func writeCString(_ start: UnsafePointer<UInt8>) -> UnsafePointer<UInt8> {
        var cursor = start
        out.reserve(2)
        out.put(UInt8(ascii: "\""))
        while true {
            while cursor + 8 <= limit {
                let word = Self.load(cursor, as: UInt64.self)
                out.reserve(10)
                UnsafeMutableRawPointer(out.tail).storeBytes(of: word.littleEndian, as: UInt64.self)
                let special = ExtendedJSONCharacters.special(word)
                let clean = special == 0 ? 8 : special.trailingZeroBitCount >> 3
                out.count += clean
                cursor += clean
                if special != 0 { break }
            }
            out.reserve(8)
            let byte = cursor.pointee
            cursor += 1
            if byte == 0 { break }
            putEscaped(byte)
        }
        out.put(UInt8(ascii: "\""))
        return cursor
    }

    @inline(__always)
    private mutating func writeEscaped(_ start: UnsafePointer<UInt8>, count: Int) {
        var cursor = start
        let end = start + count
        out.reserve(count + 10)
        out.put(UInt8(ascii: "\""))
        while cursor < end {
            if end - cursor >= 8 {
                let word = Self.load(cursor, as: UInt64.self)
                UnsafeMutableRawPointer(out.tail).storeBytes(of: word.littleEndian, as: UInt64.self)
                let special = ExtendedJSONCharacters.special(word)
                let clean = special == 0 ? 8 : special.trailingZeroBitCount >> 3
                out.count += clean
                cursor += clean
                if special == 0 { continue }
            }
            let byte = cursor.pointee
            cursor += 1
            if ExtendedJSONCharacters.isSpecial(byte) {
                out.reserve(end - cursor + 16)
                putEscaped(byte)
            } else {
                out.put(byte)
            }
        }
        out.put(UInt8(ascii: "\""))
    }

    /// Writes one byte, escaped if JSON requires it; needs 6 reserved.
    private mutating func putEscaped(_ byte: UInt8) {
        switch byte {
        case UInt8(ascii: "\""): out.put("\\\"")
        case UInt8(ascii: "\\"): out.put("\\\\")
        case 0x08: out.put("\\b")
        case 0x09: out.put("\\t")
        case 0x0A: out.put("\\n")
        case 0x0C: out.put("\\f")
        case 0x0D: out.put("\\r")
        case 0..<0x20:
            out.put("\\u00")
            putHex(byte)
        default: out.put(byte)
        }
    }

    /// Writes two lowercase hexadecimal digits; needs 2 reserved.
    @inline(__always)
    mutating func putHex(_ byte: UInt8) {
        out.put(ExtendedJSONCharacters.hexDigit(byte >> 4))
        out.put(ExtendedJSONCharacters.hexDigit(byte & 15))
    }

    /// Writes a binary: base64 with padding, subtype as two digits.
    mutating func writeBinary(_ cursor: UnsafePointer<UInt8>) -> UnsafePointer<UInt8> {
        let outer = Int(Self.load(cursor, as: Int32.self))
        let subtype = cursor[4]
        let inner = subtype == 2 ? 4 : 0
        let bytes = cursor + 5 + inner
        let count = outer - inner
        out.reserve((count + 2) / 3 * 4 + 64)
        out.put("{\"$binary\":{\"base64\":\"")
        putBase64(bytes, count: count)
        out.put("\",\"subType\":\"")
        putHex(subtype)
        out.put("\"}}")
        return cursor + 5 + outer
    }

    private mutating func putBase64(_ bytes: UnsafePointer<UInt8>, count: Int) {
        let alphabet = ExtendedJSONCharacters.base64Alphabet.utf8Start
        var at = 0
        while at + 3 <= count {
            let group = Int(bytes[at]) << 16 | Int(bytes[at + 1]) << 8 | Int(bytes[at + 2])
            out.put(alphabet[group >> 18])
            out.put(alphabet[group >> 12 & 63])
            out.put(alphabet[group >> 6 & 63])
            out.put(alphabet[group & 63])
            at += 3
        }
        if at == count { return }
        let isPair = count - at == 2
        let group = Int(bytes[at]) << 16 | (isPair ? Int(bytes[at + 1]) << 8 : 0)
        out.put(alphabet[group >> 18])
        out.put(alphabet[group >> 12 & 63])
        out.put(isPair ? alphabet[group >> 6 & 63] : UInt8(ascii: "="))
        out.put(UInt8(ascii: "="))
    }
}
