#if canImport(Darwin)
    internal import Darwin
#else
    internal import Glibc
#endif

/// A BSON document as its encoded bytes, with copy on write; reading a value decodes it.
///
/// The bytes are always valid: this type wrote them, or `init(validating:limits:)` checked them. A
/// nested document shares its parent's bytes until one of them changes. Changes move bytes in place
/// if they are not shared, and never decode values that they do not change.
///
/// Keys are written as given. If a key occurs twice, reading finds the first. A key that contains a
/// NUL cannot be encoded: passing one to a method that does not throw is a programmer error and
/// traps. For untrusted keys use the throwing variants.
public struct BSONDocument: Sendable {
    @usableFromInline var buffer: [UInt8]
    @usableFromInline var start: Int32
    @usableFromInline var length: Int32

    /// Creates an empty document.
    public init() {
        buffer = Self.emptyBytes
        start = 0
        length = 5
    }

    /// Creates a document from untrusted bytes after validating all of them; they are not copied.
    ///
    /// - Throws: the first fault with its code and byte offset, see ``BSONValidator``.
    public init(validating bytes: [UInt8], limits: BSONLimits = BSONLimits()) throws(BSONError) {
        try bytes.withUnsafeBufferPointer { (buffer) throws(BSONError) in
            try BSONValidator.validate(UnsafeRawBufferPointer(buffer), limits: limits)
        }
        self.init(unchecked: bytes)
    }

    /// Creates a document from a copy of untrusted bytes after validating all of them.
    ///
    /// - Throws: the first fault with its code and byte offset, see ``BSONValidator``.
    public init(
        validating bytes: UnsafeRawBufferPointer, limits: BSONLimits = BSONLimits()
    ) throws(BSONError) {
        try BSONValidator.validate(bytes, limits: limits)
        self.init(unchecked: Array(bytes))
    }

    /// Creates a document from bytes that are known to be valid.
    package init(unchecked bytes: [UInt8]) {
        buffer = bytes
        start = 0
        length = Int32(truncatingIfNeeded: bytes.count)
    }

    /// Creates a document that shares a part of bytes; the part is known to be valid.
    init(sharing buffer: [UInt8], start: Int, length: Int) {
        self.buffer = buffer
        self.start = Int32(truncatingIfNeeded: start)
        self.length = Int32(truncatingIfNeeded: length)
    }

    /// Returns the document at a part of the bytes that this one lends; it shares them.
    func part(at bytes: UnsafeRawBufferPointer, of base: UnsafeRawPointer) -> BSONDocument {
        guard let first = bytes.baseAddress else { return BSONDocument() }
        return BSONDocument(
            sharing: buffer, start: Int(start) + (first - base), length: bytes.count)
    }

    /// The encoded size in bytes.
    public var byteCount: Int { Int(length) }

    /// The encoded bytes; copied only if the document shares them.
    public var bytes: [UInt8] {
        start == 0 && Int(length) == buffer.count ? buffer : withUnsafeBytes { Array($0) }
    }

    /// Calls a closure with the encoded bytes, which are valid for the duration of the call.
    @inlinable
    @inline(__always)
    public func withUnsafeBytes<R, E: Error>(
        _ body: (UnsafeRawBufferPointer) throws(E) -> R
    ) throws(E) -> R {
        try buffer.withUnsafeBufferPointer { (all) throws(E) -> R in
            guard let base = all.baseAddress else {
                preconditionFailure("A document has at least 5 bytes")
            }
            return try body(
                UnsafeRawBufferPointer(
                    start: UnsafeRawPointer(base) + Int(start), count: Int(length)))
        }
    }

    /// Calls a closure with a cursor before the first element.
    @inlinable
    public func withCursor<R, E: Error>(
        _ body: (inout BSONCursor) throws(E) -> R
    ) throws(E) -> R {
        try withUnsafeBytes { (bytes) throws(E) -> R in
            var cursor = BSONCursor(bytes)
            return try body(&cursor)
        }
    }

    private static let emptyBytes: [UInt8] = [5, 0, 0, 0, 0]
}

extension BSONDocument {
    /// Replaces a run of bytes and moves the rest, in place if the bytes are not shared.
    ///
    /// `nested` are the offsets of the nested documents that enclose the run; their lengths and
    /// this one's are adjusted. `write` receives the address of `inserted` bytes to fill.
    mutating func splice(
        at offset: Int, removing removed: Int, inserting inserted: Int, nested: [Int] = [],
        _ write: (UnsafeMutableRawPointer) -> Void
    ) {
        let delta = inserted - removed
        let count = Int(length)
        precondition(count + delta <= Int(Int32.max), "A document holds less than 2 GiB")
        // Loops count a document as one step; copying a large one is many.
        if count + delta > WorkBudget.bytesPerStep { WorkBudget.noteCopy(of: count + delta) }
        if start != 0 || count != buffer.count { own(reserving: Swift.max(delta, 0)) }
        if delta > 4_096 {
            // One bulk copy, fast even in builds without optimization.
            buffer.append(contentsOf: [UInt8](repeating: 0, count: delta))
        } else if delta > 0 {
            buffer.append(contentsOf: repeatElement(0, count: delta))
        }
        buffer.withUnsafeMutableBytes { bytes in
            guard let base = bytes.baseAddress else { return }
            let tail = offset + removed
            if delta != 0 { memmove(base + offset + inserted, base + tail, count - tail) }
            write(base + offset)
            Self.adjust(base, by: delta)
            for document in nested { Self.adjust(base + document, by: delta) }
        }
        if delta < 0 { buffer.removeLast(-delta) }
        length += Int32(truncatingIfNeeded: delta)
    }

    /// Copies this document's bytes out of the ones that it shares.
    private mutating func own(reserving room: Int) {
        var own: [UInt8] = []
        own.reserveCapacity(Int(length) + room)
        withUnsafeBytes { own.append(contentsOf: $0) }
        buffer = own
        start = 0
    }

    private static func adjust(_ document: UnsafeMutableRawPointer, by delta: Int) {
        let length = Int32(littleEndian: document.loadUnaligned(as: Int32.self))
        let adjusted = length + Int32(truncatingIfNeeded: delta)
        document.storeBytes(of: adjusted.littleEndian, as: Int32.self)
    }
}

extension BSONDocument {
    /// Returns the same document with hardly more memory than its own bytes.
    ///
    /// A nested document shares the bytes of its parent, and a document from which much was removed
    /// keeps the room. A document that outlives its row is compacted, so that the counted bytes
    /// equal the bytes in memory.
    package func compacted() -> BSONDocument {
        guard retainedByteCount > 2 * byteCount + 1_024 else { return self }
        return BSONDocument(unchecked: withUnsafeBytes { Array($0) })
    }

    /// The number of bytes of memory that the document keeps alive.
    package var retainedByteCount: Int { buffer.capacity }
}

extension BSONDocument: Hashable {
    /// Whether the encoded bytes are equal: keys, order and types.
    public static func == (left: Self, right: Self) -> Bool {
        guard left.length == right.length else { return false }
        return left.withUnsafeBytes { a in
            right.withUnsafeBytes { b in
                a.baseAddress == b.baseAddress || BSONOrder.compareBytes(a, b) == .equal
            }
        }
    }

    /// Hashes the encoded bytes.
    public func hash(into hasher: inout Hasher) {
        withUnsafeBytes { hasher.combine(bytes: $0) }
    }
}
