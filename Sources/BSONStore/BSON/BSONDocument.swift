/// Holds a BSON document as its encoded bytes, with copy on write; a value is decoded when asked for.
///
/// The bytes are always valid: they come from this type's own writing or passed ``init(validating:)``.
/// A nested document shares its parent's bytes.
public struct BSONDocument: Sendable {
    private var buffer: [UInt8]
    private var start: Int32
    private var length: Int32

    /// Makes an empty document.
    public init() {
        buffer = [5, 0, 0, 0, 0]
        start = 0
        length = 5
    }

    /// Encodes pairs in order; a later pair with the same key replaces the earlier.
    public init(_ pairs: some Sequence<(String, BSONValue)>) {
        self.init()
        for (key, value) in pairs { self[key] = value }
    }

    /// Takes foreign bytes after checking all of them; they are not copied.
    ///
    /// - Throws: the first fault with its code and byte offset, see ``BSONValidator``.
    public init(validating bytes: [UInt8], limits: BSONLimits = BSONLimits()) throws(BSONError) {
        try bytes.withUnsafeBufferPointer { (buffer) throws(BSONError) in
            try BSONValidator.validate(UnsafeRawBufferPointer(buffer), limits: limits)
        }
        self.init(unchecked: bytes)
    }

    /// Copies foreign bytes after checking all of them.
    ///
    /// - Throws: the first fault with its code and byte offset, see ``BSONValidator``.
    public init(
        validating bytes: UnsafeRawBufferPointer, limits: BSONLimits = BSONLimits()
    ) throws(BSONError) {
        try BSONValidator.validate(bytes, limits: limits)
        self.init(unchecked: Array(bytes))
    }

    /// Takes bytes that are known to be a valid document.
    package init(unchecked bytes: [UInt8]) {
        buffer = bytes
        start = 0
        length = Int32(truncatingIfNeeded: bytes.count)
    }

    private init(sharing buffer: [UInt8], start: Int, length: Int) {
        self.buffer = buffer
        self.start = Int32(truncatingIfNeeded: start)
        self.length = Int32(truncatingIfNeeded: length)
    }

    /// The document that begins at an offset of this one's bytes; shares them.
    func nested(_ bytes: UnsafeRawBufferPointer, _ cursor: inout Int) -> BSONDocument {
        let count = Int32(littleEndian: bytes.loadUnaligned(fromByteOffset: cursor, as: Int32.self))
        defer { cursor += Int(count) }
        return BSONDocument(sharing: buffer, start: Int(start) + cursor, length: Int(count))
    }

    /// The encoded size in bytes.
    public var byteCount: Int { Int(length) }

    /// A copy of the encoded bytes.
    public var bytes: [UInt8] { withUnsafeBytes { Array($0) } }

    /// Lends the encoded bytes for the duration of the call.
    public func withUnsafeBytes<R, E: Error>(
        _ body: (UnsafeRawBufferPointer) throws(E) -> R
    ) throws(E) -> R {
        let range = Int(start)..<Int(start) + Int(length)
        return try buffer.withUnsafeBufferPointer { (all) throws(E) -> R in
            try body(UnsafeRawBufferPointer(UnsafeBufferPointer(rebasing: all[range])))
        }
    }
}

extension BSONDocument: Hashable {
    /// Equal when the encoded bytes are: keys, order and types.
    public static func == (left: Self, right: Self) -> Bool {
        guard left.length == right.length else { return false }
        return left.withUnsafeBytes { a in right.withUnsafeBytes { b in a.elementsEqual(b) } }
    }

    public func hash(into hasher: inout Hasher) {
        withUnsafeBytes { hasher.combine(bytes: $0) }
    }
}

extension BSONDocument: ExpressibleByDictionaryLiteral {
    public init(dictionaryLiteral elements: (String, BSONValue)...) { self.init(elements) }
}
