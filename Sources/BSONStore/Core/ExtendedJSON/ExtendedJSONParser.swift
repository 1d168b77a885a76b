/// A parser that reads Extended JSON and writes BSON bytes directly, without values in between.
///
/// Every element is stored as type byte, key and value; the type byte is patched once it is known.
/// The parser recognizes a wrapper by its first key and then removes that key from the output.
struct ExtendedJSONParser: ~Copyable {
    let start: UnsafePointer<UInt8>
    let end: UnsafePointer<UInt8>
    var cursor: UnsafePointer<UInt8>
    var out: BSONByteBuffer
    private var depth = 0
    private let depthMax: Int
    private let bytesMax: Int
    private let keepsWrappers: Bool

    /// Reads a document from all of the text.
    static func document(_ text: UnsafeRawBufferPointer) -> Result<BSONDocument, BSONError> {
        read(text) { (parser) throws(BSONError) in
            guard parser.out.base[4] == BSONType.document.rawValue else {
                throw parser.fault(.invalidExtendedJSON, "A document must be an object.", at: 0)
            }
            let bytes = parser.out.array(6..<parser.out.count)
            return BSONDocument(unchecked: bytes)
        }
    }

    /// Reads any value from all of the text; if wrappers are kept, objects stay objects.
    static func value(
        _ text: UnsafeRawBufferPointer, keepsWrappers: Bool = false
    ) -> Result<BSONValue, BSONError> {
        read(text, keepsWrappers: keepsWrappers) { (parser) throws(BSONError) in
            parser.out.reserve(1)
            parser.out.put(0 as UInt8)
            parser.out.patch(length: parser.out.count, at: 0)
            let carrier = BSONDocument(unchecked: parser.out.array(0..<parser.out.count))
            return carrier[""] ?? .null
        }
    }

    private static func read<R>(
        _ text: UnsafeRawBufferPointer, keepsWrappers: Bool = false,
        _ finish: (inout ExtendedJSONParser) throws(BSONError) -> R
    ) -> Result<R, BSONError> {
        let typed = text.bindMemory(to: UInt8.self)
        guard let start = typed.baseAddress, !typed.isEmpty else {
            return .failure(
                BSONError(.invalidJSON, "The text is empty.", byteOffset: 0, line: 1, column: 1))
        }
        var parser = ExtendedJSONParser(start, start + typed.count, keepsWrappers)
        do throws(BSONError) {
            try parser.readAll()
            return .success(try finish(&parser))
        } catch {
            return .failure(error)
        }
    }

    private init(
        _ start: UnsafePointer<UInt8>, _ end: UnsafePointer<UInt8>, _ keepsWrappers: Bool
    ) {
        self.keepsWrappers = keepsWrappers
        self.start = start
        self.end = end
        cursor = start
        out = BSONByteBuffer(capacity: end - start)
        depthMax = BSONLimits().depthMax
        bytesMax = BSONLimits().documentBytesMax
    }

    /// Stores a carrier document without its end: length, type, empty key, value.
    private mutating func readAll() throws(BSONError) {
        out.put(little: 0 as Int32)
        out.put(0 as UInt8)
        out.put(0 as UInt8)
        skipSpace()
        try readValue(typeIndex: 4)
        skipSpace()
        if cursor != end { throw fault(.invalidJSON, "Text follows the value.") }
    }

    /// Reads one value and patches the byte of its type.
    mutating func readValue(typeIndex: Int) throws(BSONError) {
        guard cursor < end else { throw fault(.invalidJSON, "A value is missing.") }
        switch cursor.pointee {
        case UInt8(ascii: "\""):
            set(.string, at: typeIndex)
            try readString()
        case UInt8(ascii: "{"): try readObject(typeIndex: typeIndex)
        case UInt8(ascii: "["):
            set(.array, at: typeIndex)
            try readArray()
        case UInt8(ascii: "t"):
            try readWord("true")
            putBool(true, typeIndex)
        case UInt8(ascii: "f"):
            try readWord("false")
            putBool(false, typeIndex)
        case UInt8(ascii: "n"):
            try readWord("null")
            set(.null, at: typeIndex)
        case UInt8(ascii: "-"), UInt8(ascii: "0")...UInt8(ascii: "9"):
            try readNumber(typeIndex: typeIndex)
        default: throw fault(.invalidJSON, "No value begins like this.")
        }
    }

    private mutating func readObject(typeIndex: Int) throws(BSONError) {
        let opening = cursor
        try descend()
        let lengthIndex = out.count
        out.reserve(8)
        out.put(little: 0 as Int32)
        skipSpace()
        var suspect = ExtendedJSONKey.plain
        var count = 0
        if !skip(UInt8(ascii: "}")) {
            repeat {
                skipSpace()
                let keyCursor = cursor
                let elementIndex = out.count
                let key = try readKey()
                if _slowPath(key != .plain) {
                    if count == 0, startsWrapper(key) {
                        out.count = lengthIndex
                        try readWrapper(key, typeIndex: typeIndex, opening)
                        depth -= 1
                        return
                    }
                    try check(key, after: suspect, count: count, at: keyCursor)
                    if count == 0 { suspect = key }
                }
                try readValue(typeIndex: elementIndex)
                count += 1
                skipSpace()
            } while skip(UInt8(ascii: ","))
            guard skip(UInt8(ascii: "}")) else {
                throw fault(.invalidJSON, "An object continues with a comma or ends with a brace.")
            }
        }
        set(.document, at: typeIndex)
        try close(lengthIndex)
        if _slowPath(suspect != .plain) {
            try convert(suspect, typeIndex: typeIndex, from: lengthIndex, opening)
        }
    }

    private mutating func readArray() throws(BSONError) {
        try descend()
        let lengthIndex = out.count
        out.reserve(8)
        out.put(little: 0 as Int32)
        skipSpace()
        var index = 0
        if !skip(UInt8(ascii: "]")) {
            repeat {
                skipSpace()
                let elementIndex = out.count
                out.reserve(32)
                out.put(0 as UInt8)
                out.put(digits: index)
                out.put(0 as UInt8)
                try readValue(typeIndex: elementIndex)
                index += 1
                skipSpace()
            } while skip(UInt8(ascii: ","))
            guard skip(UInt8(ascii: "]")) else {
                throw fault(.invalidJSON, "An array continues with a comma or ends with a bracket.")
            }
        }
        try close(lengthIndex)
    }

    /// Steps over the opening bracket and increases the depth.
    private mutating func descend() throws(BSONError) {
        depth += 1
        if depth > depthMax { throw fault(.tooDeep, "Nested deeper than \(depthMax) levels.") }
        cursor += 1
    }

    private mutating func close(_ lengthIndex: Int) throws(BSONError) {
        out.reserve(1)
        out.put(0 as UInt8)
        let length = out.count - lengthIndex
        if length > bytesMax { throw fault(.tooLarge, "Larger than \(bytesMax) bytes as BSON.") }
        out.patch(length: length, at: lengthIndex)
        depth -= 1
    }

    /// Reads a key with its colon, stores it after a placeholder for the type, and classifies it.
    @inline(__always)
    private mutating func readKey() throws(BSONError) -> ExtendedJSONKey {
        guard cursor < end, cursor.pointee == UInt8(ascii: "\"") else {
            throw fault(.invalidJSON, "An object's key is missing.")
        }
        out.reserve(1)
        out.put(0 as UInt8)
        let from = out.count
        try readCString()
        skipSpace()
        guard skip(UInt8(ascii: ":")) else { throw fault(.invalidJSON, "A colon is missing.") }
        skipSpace()
        guard out.base[from] == UInt8(ascii: "$"), !keepsWrappers else { return .plain }
        return ExtendedJSONKey(
            UnsafeBufferPointer(start: out.base + from, count: out.count - from - 1))
    }

    private mutating func putBool(_ value: Bool, _ typeIndex: Int) {
        set(.bool, at: typeIndex)
        out.reserve(1)
        out.put(value ? 1 as UInt8 : 0)
    }

    private mutating func readNumber(typeIndex: Int) throws(BSONError) {
        guard let number = ExtendedJSONNumber(cursor, end: end) else {
            throw fault(.invalidJSON, "This is not a JSON number.")
        }
        out.reserve(8)
        switch number.value {
        case .integer(let value):
            if let narrow = Int32(exactly: value) {
                set(.int32, at: typeIndex)
                out.put(little: narrow)
            } else {
                set(.int64, at: typeIndex)
                out.put(little: value)
            }
        case .double(let value):
            set(.double, at: typeIndex)
            out.put(little: value.bitPattern)
        case .overflow: throw fault(.invalidNumber, "This number is too large for a double.")
        }
        cursor += number.count
    }

    private mutating func readWord(_ word: StaticString) throws(BSONError) {
        let count = word.utf8CodeUnitCount
        var matches = end - cursor >= count
        for index in 0..<count where matches {
            matches = cursor[index] == word.utf8Start[index]
        }
        guard matches else { throw fault(.invalidJSON, "No value begins like this.") }
        cursor += count
    }
}

extension ExtendedJSONParser {
    @inline(__always)
    mutating func set(_ type: BSONType, at index: Int) { out.base[index] = type.rawValue }

    @inline(__always)
    mutating func skipSpace() {
        while cursor < end {
            switch cursor.pointee {
            case 0x20, 0x0A, 0x0D, 0x09: cursor += 1
            default: return
            }
        }
    }

    /// Steps over a byte if it is the next one.
    @inline(__always)
    mutating func skip(_ byte: UInt8) -> Bool {
        guard cursor < end, cursor.pointee == byte else { return false }
        cursor += 1
        return true
    }

    /// Returns an error at the cursor, or at another place of the text.
    func fault(
        _ code: BSONError.Code, _ message: String, at place: UnsafePointer<UInt8>? = nil
    ) -> BSONError {
        fault(code, message, at: (place ?? cursor) - start)
    }

    /// Returns an error at an offset of the text.
    @inline(never)
    func fault(_ code: BSONError.Code, _ message: String, at offset: Int) -> BSONError {
        var line = 1
        var lineStart = 0
        for index in 0..<offset where start[index] == UInt8(ascii: "\n") {
            line += 1
            lineStart = index + 1
        }
        return BSONError(
            code, message, byteOffset: offset, line: line, column: offset - lineStart + 1)
    }
}
