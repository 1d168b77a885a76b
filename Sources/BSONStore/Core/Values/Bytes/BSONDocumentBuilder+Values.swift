extension BSONDocumentBuilder {
    /// Appends a value of any type.
    @inlinable
    public mutating func append(_ key: StaticString, _ value: BSONValue) {
        head(value.type, key, room: 0)
        self.value(value)
    }

    /// Appends a value of any type; a key with a NUL traps.
    @_disfavoredOverload
    public mutating func append(_ key: String, _ value: BSONValue) {
        switch value {
        case .double(let value):
            head(.double, key, room: 8)
            store(value.bitPattern)
        case .string(let value):
            head(.string, key, room: 5 + value.utf8.count)
            text(value)
        case .document, .array, .binary, .undefined, .objectID, .datetime, .null,
            .regularExpression, .dbPointer, .javascript, .symbol, .javascriptWithScope,
            .timestamp, .decimal128, .minKey, .maxKey:
            head(value.type, key, room: BSONWriter.count(value))
            count = BSONWriter.write(value, base + count) - base
        case .bool(let value):
            head(.bool, key, room: 1)
            store(value ? 1 as UInt8 : 0)
        case .int32(let value):
            head(.int32, key, room: 4)
            store(value)
        case .int64(let value):
            head(.int64, key, room: 8)
            store(value)
        }
    }

    /// Appends a 32-bit number.
    @inlinable
    public mutating func append(_ key: StaticString, int32 value: Int32) {
        head(.int32, key, room: 4)
        store(value)
    }

    /// Appends a 64-bit number.
    @inlinable
    public mutating func append(_ key: StaticString, int64 value: Int64) {
        head(.int64, key, room: 8)
        store(value)
    }

    /// Appends a floating-point number.
    @inlinable
    public mutating func append(_ key: StaticString, double value: Double) {
        head(.double, key, room: 8)
        store(value.bitPattern)
    }

    /// Appends a boolean.
    @inlinable
    public mutating func append(_ key: StaticString, bool value: Bool) {
        head(.bool, key, room: 1)
        store(value ? 1 as UInt8 : 0)
    }

    /// Appends a null.
    @inlinable
    public mutating func appendNull(_ key: StaticString) { head(.null, key, room: 0) }

    /// Appends a text.
    @inlinable
    public mutating func append(_ key: StaticString, string value: String) {
        head(.string, key, room: value.utf8.count + 5)
        text(value)
    }

    /// Appends an ObjectId.
    @inlinable
    public mutating func append(_ key: StaticString, objectID value: BSONObjectID) {
        head(.objectID, key, room: 12)
        objectID(value)
    }

    /// Appends a point in time.
    @inlinable
    public mutating func append(_ key: StaticString, datetime value: BSONDatetime) {
        head(.datetime, key, room: 8)
        store(value.milliseconds)
    }

    /// Appends an encoded document.
    @inlinable
    public mutating func append(_ key: StaticString, document value: BSONDocument) {
        head(.document, key, room: value.byteCount)
        bytes(value)
    }

    /// Appends an encoded array.
    @inlinable
    public mutating func append(_ key: StaticString, array value: BSONArray) {
        head(.array, key, room: value.document.byteCount)
        bytes(value.document)
    }

    /// Appends a document that the closure writes in place.
    @inlinable
    public mutating func appendDocument<E: Error>(
        _ key: StaticString, _ body: (inout BSONDocumentBuilder) throws(E) -> Void
    ) throws(E) {
        head(.document, key, room: 5)
        let outer = begin()
        defer { end(outer) }
        try body(&self)
    }

    /// Appends a document that the closure writes in place; a key with a NUL traps.
    @_disfavoredOverload
    public mutating func appendDocument<E: Error>(
        _ key: String, _ body: (inout BSONDocumentBuilder) throws(E) -> Void
    ) throws(E) {
        head(.document, key, room: 5)
        let outer = begin()
        defer { end(outer) }
        try body(&self)
    }

    /// Appends an array whose values the closure writes in place, under the keys "0", "1" ….
    public mutating func appendArray<E: Error>(
        _ key: String, _ body: (inout BSONDocumentBuilder) throws(E) -> Void
    ) throws(E) {
        head(.array, key, room: 5)
        let outer = begin()
        defer { end(outer) }
        try body(&self)
    }

    /// Appends a value of an array that is being written, under the key of its position.
    public mutating func append(at index: Int, _ value: BSONValue) {
        reserve(2 + BSONWriter.digits(index) + BSONWriter.count(value))
        (base + count).storeBytes(of: value.type.rawValue, as: UInt8.self)
        let at = BSONWriter.index(index, base + count + 1)
        count = BSONWriter.write(value, at) - base
    }

    @usableFromInline
    mutating func value(_ value: BSONValue) {
        reserve(BSONWriter.count(value))
        count = BSONWriter.write(value, base + count) - base
    }

    @inlinable
    mutating func text(_ value: String) {
        let size = value.withUTF8Bytes { bytes in
            if let from = bytes.baseAddress {
                (base + count + 4).copyMemory(from: from, byteCount: bytes.count)
            }
            return bytes.count
        }
        store(Int32(truncatingIfNeeded: size + 1))
        count += size
        store(0 as UInt8)
    }

    @usableFromInline
    mutating func objectID(_ value: BSONObjectID) {
        count = BSONWriter.objectID(value, base + count) - base
    }

    @usableFromInline
    mutating func bytes(_ value: BSONDocument) {
        count = BSONWriter.document(value, base + count) - base
    }
}
