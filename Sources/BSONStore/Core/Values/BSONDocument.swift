#if canImport(Darwin)
    internal import Darwin
#else
    internal import Glibc
#endif

/// Holds a BSON document as its encoded bytes, with copy on write; a value is decoded when asked for.
///
/// The bytes are always valid: they come from this type's own writing or passed `init(validating:limits:)`.
/// A nested document shares its parent's bytes until one of them is changed. Changes move bytes in
/// place where nobody shares them, and never decode what they do not touch.
///
/// Keys are written as given: a key may stand twice, then reading finds the first. A key that holds
/// a NUL cannot be encoded; passing one to a method that does not throw is a programmer error and
/// traps, for keys that come from outside use the throwing variants.
public struct BSONDocument: Sendable {
    @usableFromInline var buffer: [UInt8]
    @usableFromInline var start: Int32
    @usableFromInline var length: Int32

    /// Makes an empty document.
    public init() {
        buffer = Self.emptyBytes
        start = 0
        length = 5
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

    /// Takes a part of bytes which is known to be a valid document; shares them.
    init(sharing buffer: [UInt8], start: Int, length: Int) {
        self.buffer = buffer
        self.start = Int32(truncatingIfNeeded: start)
        self.length = Int32(truncatingIfNeeded: length)
    }

    /// The document whose bytes are a part of those that this one lends; shares them.
    func part(at bytes: UnsafeRawBufferPointer, of base: UnsafeRawPointer) -> BSONDocument {
        guard let first = bytes.baseAddress else { return BSONDocument() }
        return BSONDocument(
            sharing: buffer, start: Int(start) + (first - base), length: bytes.count)
    }

    /// The encoded size in bytes.
    public var byteCount: Int { Int(length) }

    /// A copy of the encoded bytes; shared, not copied, where the document has them for itself.
    public var bytes: [UInt8] {
        start == 0 && Int(length) == buffer.count ? buffer : withUnsafeBytes { Array($0) }
    }

    /// Lends the encoded bytes for the duration of the call.
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

    private static let emptyBytes: [UInt8] = [5, 0, 0, 0, 0]
}

extension BSONDocument {
    /// Exchanges a run of bytes, moving what follows, in place where nobody shares the bytes.
    ///
    /// `nested` are the offsets of the documents inside of this one that enclose the run; their
    /// lengths and this one's are adjusted. `write` gets the address of `inserted` bytes to fill.
    mutating func splice(
        at offset: Int, removing removed: Int, inserting inserted: Int, nested: [Int] = [],
        _ write: (UnsafeMutableRawPointer) -> Void
    ) {
        let delta = inserted - removed
        let count = Int(length)
        precondition(count + delta <= Int(Int32.max), "A document holds less than 2 GiB")
        if start != 0 || count != buffer.count { own(reserving: Swift.max(delta, 0)) }
        if delta > 4_096 {
            // Much is copied at once, also where nothing is optimized.
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

    /// Copies the bytes of this document alone out of those that it shares.
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

extension BSONDocument: Hashable {
    /// Equal when the encoded bytes are: keys, order and types.
    public static func == (left: Self, right: Self) -> Bool {
        guard left.length == right.length else { return false }
        return left.withUnsafeBytes { a in
            right.withUnsafeBytes { b in
                a.baseAddress == b.baseAddress || BSONOrder.compareBytes(a, b) == .equal
            }
        }
    }

    /// Feeds the encoded bytes.
    public func hash(into hasher: inout Hasher) {
        withUnsafeBytes { hasher.combine(bytes: $0) }
    }
}
