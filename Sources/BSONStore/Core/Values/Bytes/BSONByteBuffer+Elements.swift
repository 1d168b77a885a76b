extension BSONByteBuffer {
    /// Writes type and key and reserves room for a fixed value; returns whether the key holds no
    /// NUL.
    @inline(__always)
    mutating func head(_ typeByte: UInt8, _ key: String) -> Bool {
        key.withUTF8Bytes { utf8 in
            reserve(utf8.count + 32)
            put(typeByte)
            guard let start = utf8.baseAddress else {
                put(0 as UInt8)
                return true
            }
            let isValid = put(nonzero: start, count: utf8.count)
            put(0 as UInt8)
            return isValid
        }
    }

    /// Writes type and position and reserves room for a fixed value.
    @inline(__always)
    mutating func head(_ typeByte: UInt8, index: Int) {
        reserve(64)
        put(typeByte)
        put(digits: index)
        put(0 as UInt8)
    }

    /// Writes a string's value.
    @inline(__always)
    mutating func put(text: String) {
        text.withUTF8Bytes { utf8 in
            reserve(utf8.count + 5)
            put(little: Int32(truncatingIfNeeded: utf8.count + 1))
            if let start = utf8.baseAddress { put(start, count: utf8.count) }
            put(0 as UInt8)
        }
    }
}
