/// A writer that turns BSON bytes into Extended JSON without values in between.
///
/// The bytes must be a valid document and outlive the writer.
struct ExtendedJSONWriter: ~Copyable {
    var out: BSONByteBuffer
    let limit: UnsafePointer<UInt8>
    let isRelaxed: Bool
    private let start: UnsafePointer<UInt8>
    private let isPretty: Bool
    private var level = 0

    init(_ bytes: UnsafeRawBufferPointer, _ format: ExtendedJSONFormat, pretty: Bool) {
        let typed = bytes.bindMemory(to: UInt8.self)
        precondition(typed.count >= 5, "A BSON document has at least 5 bytes.")
        guard let start = typed.baseAddress else { preconditionFailure("No bytes were given.") }
        self.start = start
        limit = start + typed.count
        isPretty = pretty
        switch format {
        case .canonical:
            isRelaxed = false
            out = BSONByteBuffer(capacity: typed.count * 4)
        case .relaxed:
            isRelaxed = true
            out = BSONByteBuffer(capacity: typed.count * 3)
        }
    }

    mutating func writeDocument() { writeContainer(start, isArray: false) }

    /// Writes the first value of the document without its key.
    mutating func writeFirstValue() {
        let type = start[4]
        if type == 0 { return }
        _ = writeValue(type, start + 6)
    }

    func finishedText() -> String {
        String(decoding: UnsafeBufferPointer(start: out.base, count: out.count), as: UTF8.self)
    }

    func finishedBytes() -> [UInt8] { out.array(0..<out.count) }

    private mutating func writeContainer(_ start: UnsafePointer<UInt8>, isArray: Bool) {
        var cursor = start + 4
        out.reserve(2)
        out.put(isArray ? UInt8(ascii: "[") : UInt8(ascii: "{"))
        if cursor.pointee != 0 {
            level += 1
            while true {
                let type = cursor.pointee
                cursor += 1
                if isPretty { breakLine() }
                cursor = isArray ? Self.skipCString(cursor) : writeKey(cursor)
                cursor = writeValue(type, cursor)
                if cursor.pointee == 0 { break }
                out.reserve(1)
                out.put(UInt8(ascii: ","))
            }
            level -= 1
            if isPretty { breakLine() }
        }
        out.reserve(1)
        out.put(isArray ? UInt8(ascii: "]") : UInt8(ascii: "}"))
    }

    private mutating func breakLine() {
        out.reserve(1 + 2 * level)
        out.put(UInt8(ascii: "\n"))
        for _ in 0..<level { out.put("  ") }
    }

    @inline(__always)
    private mutating func writeKey(_ key: UnsafePointer<UInt8>) -> UnsafePointer<UInt8> {
        let end = writeCString(key)
        out.reserve(2)
        out.put(UInt8(ascii: ":"))
        if isPretty { out.put(UInt8(ascii: " ")) }
        return end
    }

    private mutating func writeValue(
        _ type: UInt8, _ cursor: UnsafePointer<UInt8>
    ) -> UnsafePointer<UInt8> {
        guard let type = BSONType(rawValue: type) else {
            preconditionFailure("The bytes of a document were not valid.")
        }
        switch type {
        case .double, .undefined, .objectID, .bool, .datetime, .null, .int32, .timestamp, .int64,
            .decimal128, .minKey, .maxKey:
            out.reserve(128)
            return writeFixed(type, cursor)
        case .string: return writeString(cursor)
        case .document, .array:
            writeContainer(cursor, isArray: type == .array)
            return cursor + Int(Self.load(cursor, as: Int32.self))
        case .binary, .regularExpression, .dbPointer, .javascript, .symbol, .javascriptWithScope:
            return writeVariable(type, cursor)
        }
    }

    private mutating func writeVariable(
        _ type: BSONType, _ cursor: UnsafePointer<UInt8>
    ) -> UnsafePointer<UInt8> {
        out.reserve(64)
        switch type {
        case .double, .string, .document, .array, .undefined, .objectID, .bool, .datetime, .null,
            .int32, .timestamp, .int64, .decimal128, .minKey, .maxKey:
            preconditionFailure("Values of this type are written elsewhere.")
        case .binary: return writeBinary(cursor)
        case .regularExpression:
            out.put("{\"$regularExpression\":{\"pattern\":")
            let options = writeCString(cursor)
            out.reserve(64)
            out.put(",\"options\":")
            let end = writeCString(options)
            out.reserve(2)
            out.put("}}")
            return end
        case .dbPointer:
            out.put("{\"$dbPointer\":{\"$ref\":")
            let id = writeString(cursor)
            out.reserve(64)
            out.put(",\"$id\":")
            let end = writeFixed(.objectID, id)
            out.put("}}")
            return end
        case .javascript: return writeWrapped("{\"$code\":", cursor)
        case .symbol: return writeWrapped("{\"$symbol\":", cursor)
        case .javascriptWithScope:
            out.put("{\"$code\":")
            let scope = writeString(cursor + 4)
            out.reserve(64)
            out.put(",\"$scope\":")
            writeContainer(scope, isArray: false)
            out.reserve(1)
            out.put(UInt8(ascii: "}"))
            return cursor + Int(Self.load(cursor, as: Int32.self))
        }
    }

    private mutating func writeWrapped(
        _ opening: StaticString, _ cursor: UnsafePointer<UInt8>
    ) -> UnsafePointer<UInt8> {
        out.put(opening)
        let end = writeString(cursor)
        out.reserve(1)
        out.put(UInt8(ascii: "}"))
        return end
    }

    @inline(__always)
    static func load<T: FixedWidthInteger>(_ cursor: UnsafePointer<UInt8>, as: T.Type) -> T {
        T(littleEndian: UnsafeRawPointer(cursor).loadUnaligned(as: T.self))
    }

    @inline(__always)
    private static func skipCString(_ cursor: UnsafePointer<UInt8>) -> UnsafePointer<UInt8> {
        var cursor = cursor
        while cursor.pointee != 0 { cursor += 1 }
        return cursor + 1
    }
}
