extension ExtendedJSONParser {
    /// Whether an object with this first key must be a wrapper that is read in one go.
    func startsWrapper(_ key: ExtendedJSONKey) -> Bool {
        switch key {
        case .plain, .scope, .regex, .options, .type: false
        case .binary: cursor >= end || cursor.pointee != UInt8(ascii: "\"")
        case .oid, .symbol, .numberInt, .numberLong, .numberDouble, .numberDecimal, .code,
            .timestamp, .regularExpression, .dbPointer, .date, .minKey, .maxKey, .undefined, .uuid:
            true
        }
    }

    /// Throws if a wrapper's key stands where a document cannot have it.
    func check(
        _ key: ExtendedJSONKey, after first: ExtendedJSONKey, count: Int,
        at place: UnsafePointer<UInt8>
    ) throws(BSONError) {
        guard count > 0, key.isReserved else { return }
        if case (.code, .scope, 1) = (key, first, count) { return }
        if case (.binary, .type, 1) = (key, first, count) { return }
        throw fault(
            .invalidExtendedJSON, "A type wrapper's key has other keys beside it.", at: place)
    }

    /// Reads the rest of a wrapper behind its first key, up to the closing brace.
    mutating func readWrapper(
        _ key: ExtendedJSONKey, typeIndex: Int, _ opening: UnsafePointer<UInt8>
    ) throws(BSONError) {
        switch key {
        case .numberInt: try readWrappedInt(typeIndex)
        case .numberLong: try readWrappedLong(typeIndex)
        case .numberDouble: try readWrappedDouble(typeIndex)
        case .numberDecimal: try readWrappedDecimal(typeIndex)
        case .oid: try readWrappedObjectID(typeIndex)
        case .date: try readWrappedDate(typeIndex)
        case .binary: try readWrappedBinary(typeIndex)
        case .uuid: try readWrappedUUID(typeIndex)
        case .symbol:
            set(.symbol, at: typeIndex)
            try expectString("$symbol")
            try readString()
        case .code: try readWrappedCode(typeIndex)
        case .timestamp: try readWrappedTimestamp(typeIndex)
        case .regularExpression: try readWrappedRegularExpression(typeIndex)
        case .dbPointer: try readWrappedDBPointer(typeIndex)
        case .minKey: try readOne("1", "$minKey", .minKey, typeIndex)
        case .maxKey: try readOne("1", "$maxKey", .maxKey, typeIndex)
        case .undefined: try readOne("true", "$undefined", .undefined, typeIndex)
        case .plain, .scope, .regex, .options, .type:
            throw fault(.invalidExtendedJSON, "This wrapper is malformed.", at: opening)
        }
        try endObject()
    }

    /// Steps over the closing brace.
    mutating func endObject() throws(BSONError) {
        skipSpace()
        guard _fastPath(skip(UInt8(ascii: "}"))) else {
            let isComma = cursor < end && cursor.pointee == UInt8(ascii: ",")
            throw isComma
                ? fault(.invalidExtendedJSON, "A type wrapper has a key too many.")
                : fault(.invalidJSON, "A closing brace is missing.")
        }
    }

    @inline(__always)
    func expectString(_ name: StaticString) throws(BSONError) {
        guard cursor < end, cursor.pointee == UInt8(ascii: "\"") else {
            throw fault(.invalidExtendedJSON, "\(name) takes a string.")
        }
    }

    /// Reads a string into temporary room; it is valid until the next byte is stored.
    @inline(__always)
    mutating func readScratch(_ name: StaticString) throws(BSONError) -> UnsafeBufferPointer<UInt8>
    {
        try expectString(name)
        let from = out.count
        try readCharacters()
        let start = UnsafePointer(out.base) + from
        let text = UnsafeBufferPointer(start: start, count: out.count - from)
        out.count = from
        return text
    }

    private mutating func readWrappedInt(_ typeIndex: Int) throws(BSONError) {
        let place = cursor
        let text = try readScratch("$numberInt")
        guard let value = Self.integer(text).flatMap({ Int32(exactly: $0) }) else {
            throw fault(.invalidNumber, "$numberInt takes a whole number of 32 bits.", at: place)
        }
        set(.int32, at: typeIndex)
        out.reserve(4)
        out.put(little: value)
    }

    private mutating func readWrappedLong(_ typeIndex: Int) throws(BSONError) {
        let place = cursor
        let text = try readScratch("$numberLong")
        guard let value = Self.integer(text) else {
            throw fault(.invalidNumber, "$numberLong takes a whole number of 64 bits.", at: place)
        }
        set(.int64, at: typeIndex)
        out.reserve(8)
        out.put(little: value)
    }

    private mutating func readWrappedDouble(_ typeIndex: Int) throws(BSONError) {
        let place = cursor
        let text = try readScratch("$numberDouble")
        guard let value = Self.double(text) else {
            throw fault(.invalidNumber, "$numberDouble takes a number, NaN or Infinity.", at: place)
        }
        set(.double, at: typeIndex)
        out.reserve(8)
        out.put(little: value.bitPattern)
    }

    private mutating func readWrappedDecimal(_ typeIndex: Int) throws(BSONError) {
        let place = cursor
        let text = try readScratch("$numberDecimal")
        let value: BSONDecimal128
        do throws(BSONError) {
            value = try BSONDecimal128(utf8: text)
        } catch {
            throw fault(error.code, error.message, at: place)
        }
        set(.decimal128, at: typeIndex)
        out.reserve(16)
        out.put(little: value.low)
        out.put(little: value.high)
    }

    mutating func readWrappedObjectID(_ typeIndex: Int) throws(BSONError) {
        set(.objectID, at: typeIndex)
        let place = cursor
        let text = try readScratch("$oid")
        guard text.count == 24, decodeHex(text) else {
            throw fault(.invalidObjectID, "$oid takes 24 hexadecimal digits.", at: place)
        }
    }

    private mutating func readWrappedUUID(_ typeIndex: Int) throws(BSONError) {
        set(.binary, at: typeIndex)
        let place = cursor
        out.reserve(5)
        out.put(little: 16 as Int32)
        out.put(4 as UInt8)
        let from = out.count
        let text = try readScratch("$uuid")
        // Without the hyphens, 32 digits remain in place.
        var isValid = text.count == 36
        for index in 0..<text.count {
            let isHyphen = text[index] == UInt8(ascii: "-")
            switch index {
            case 8, 13, 18, 23: isValid = isValid && isHyphen
            default: out.put(text[index])
            }
        }
        out.count = from
        let digits = UnsafeBufferPointer(start: UnsafePointer(out.tail), count: 32)
        guard isValid, decodeHex(digits) else {
            throw fault(.invalidExtendedJSON, "$uuid takes 8-4-4-4-12 hex digits.", at: place)
        }
    }

    /// Decodes pairs of hexadecimal digits to bytes; both may share the same memory.
    private mutating func decodeHex(_ text: UnsafeBufferPointer<UInt8>) -> Bool {
        for index in stride(from: 0, to: text.count, by: 2) {
            guard let high = ExtendedJSONCharacters.hexValue(text[index]),
                let low = ExtendedJSONCharacters.hexValue(text[index + 1])
            else { return false }
            out.put(high << 4 | low)
        }
        return true
    }

    /// Reads the only value that a wrapper takes.
    private mutating func readOne(
        _ word: StaticString, _ name: StaticString, _ type: BSONType, _ typeIndex: Int
    ) throws(BSONError) {
        set(type, at: typeIndex)
        let count = word.utf8CodeUnitCount
        let next = UnsafeBufferPointer(start: cursor, count: min(count, end - cursor))
        guard ExtendedJSONCharacters.equal(next, word) else {
            throw fault(.invalidExtendedJSON, "\(name) takes \(word) only.")
        }
        cursor += count
        skipSpace()
        let isDone =
            cursor < end
            && (cursor.pointee == UInt8(ascii: "}")
                || cursor.pointee == UInt8(ascii: ","))
        guard isDone else { throw fault(.invalidExtendedJSON, "\(name) takes \(word) only.") }
    }

    /// Returns a whole number in JSON's grammar that fits 64 bits.
    static func integer(_ text: UnsafeBufferPointer<UInt8>) -> Int64? {
        guard let start = text.baseAddress,
            let number = ExtendedJSONNumber(start, end: start + text.count),
            number.count == text.count, case .integer(let value) = number.value
        else { return nil }
        return value
    }

    private static func double(_ text: UnsafeBufferPointer<UInt8>) -> Double? {
        guard let start = text.baseAddress else { return nil }
        guard let number = ExtendedJSONNumber(start, end: start + text.count),
            number.count == text.count
        else { return special(text) }
        switch number.value {
        case .integer(0) where start.pointee == UInt8(ascii: "-"): return -0.0
        case .integer(let value): return Double(value)
        case .double(let value): return value
        case .overflow: return nil
        }
    }

    private static func special(_ text: UnsafeBufferPointer<UInt8>) -> Double? {
        if ExtendedJSONCharacters.equal(text, "NaN") { return .nan }
        if ExtendedJSONCharacters.equal(text, "Infinity") { return .infinity }
        if ExtendedJSONCharacters.equal(text, "-Infinity") { return -.infinity }
        return nil
    }
}
