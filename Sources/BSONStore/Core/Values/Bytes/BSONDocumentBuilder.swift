#if canImport(Darwin)
    internal import Darwin
#else
    internal import Glibc
#endif

/// A builder that writes a document's bytes one element after the other, without values in between.
///
/// It is the fastest way to create a document: keys written as literals are copied without a check,
/// nested documents are written in place. Keys are written as given; one that contains a NUL traps.
@frozen
public struct BSONDocumentBuilder: ~Copyable {
    @usableFromInline package var base: UnsafeMutableRawPointer
    @usableFromInline var count: Int
    @usableFromInline var capacity: Int
    /// The offset of the innermost open document.
    @usableFromInline var open: Int

    /// Starts an empty document; a good estimate of its size in bytes avoids reallocation.
    @inlinable
    public init(reservingBytes: Int = 4096) {
        capacity = max(reservingBytes, 64)
        base = .allocate(byteCount: capacity, alignment: 1)
        count = 4
        open = 0
    }

    deinit { base.deallocate() }

    /// Ends the document; the builder starts the next one and keeps its memory.
    ///
    /// Copies the bytes into one allocation of their exact size.
    public mutating func finish() -> BSONDocument {
        precondition(open == 0, "A document is finished outside of those nested in it")
        close()
        let size = count
        let from = base
        let bytes = [UInt8](unsafeUninitializedCapacity: size) { buffer, initialized in
            guard let to = buffer.baseAddress else { return }
            memcpy(to, from, size)
            initialized = size
        }
        count = 4
        return BSONDocument(unchecked: bytes)
    }

    /// Ends the document and calls a closure with its bytes; the builder then starts the next one
    /// and keeps its memory.
    public mutating func finish<R, E: Error>(
        lending body: (UnsafeRawBufferPointer) throws(E) -> R
    ) throws(E) -> R {
        precondition(open == 0, "A document is finished outside of those nested in it")
        close()
        defer { count = 4 }
        return try body(UnsafeRawBufferPointer(start: base, count: count))
    }

    /// Reserves room for more bytes.
    @inlinable
    @inline(__always)
    package mutating func reserve(_ room: Int) {
        if capacity - count < room { grow(room) }
    }

    @usableFromInline
    @inline(never)
    mutating func grow(_ room: Int) {
        let wanted = max(capacity * 4, count + room)
        precondition(count + room <= Int(Int32.max), "A document holds less than 2 GiB")
        let moved = UnsafeMutableRawPointer.allocate(byteCount: wanted, alignment: 1)
        moved.copyMemory(from: base, byteCount: count)
        base.deallocate()
        base = moved
        capacity = wanted
    }

    /// Writes the terminator and the length of the innermost open document.
    @inlinable
    mutating func close() {
        reserve(1)
        base.storeBytes(of: 0, toByteOffset: count, as: UInt8.self)
        count += 1
        base.storeBytes(
            of: Int32(truncatingIfNeeded: count - open).littleEndian, toByteOffset: open,
            as: Int32.self)
    }

    /// Writes type and key, and reserves room for the value.
    @inlinable
    @inline(__always)
    mutating func head(_ type: BSONType, _ key: StaticString, room: Int) {
        precondition(key.hasPointerRepresentation, "A key is a string literal")
        let size = key.utf8CodeUnitCount
        reserve(size + 2 + room)
        let at = base + count
        at.storeBytes(of: type.rawValue, as: UInt8.self)
        count = BSONWriter.key(key.utf8Start, size, at + 1) - base
    }

    /// Writes type and key, and reserves room for the value.
    @usableFromInline
    @inline(__always)
    mutating func head(_ type: BSONType, _ key: String, room: Int) {
        reserve(BSONWriter.headCount(key) + room)
        count = BSONWriter.head(type, key, base + count) - base
    }

    /// Writes a number behind a key, in reserved room.
    @inlinable
    @inline(__always)
    mutating func store<T: FixedWidthInteger & BitwiseCopyable>(_ value: T) {
        base.storeBytes(of: value.littleEndian, toByteOffset: count, as: T.self)
        count += MemoryLayout<T>.size
    }
}

extension BSONDocumentBuilder {
    /// Appends an array's value from encoded bytes.
    package mutating func append(index: Int, _ value: BSONRawValue) {
        reserve(2 + BSONWriter.digits(index) + value.count)
        let at = base + count
        at.storeBytes(of: value.typeByte, as: UInt8.self)
        let behind = BSONWriter.index(index, at + 1)
        behind.copy(value.bytes)
        count = behind + value.count - base
    }

    /// Appends an element from encoded bytes, with its key.
    public mutating func append(_ element: BSONRawElement) {
        append(key: element.key, element.value)
    }

    /// Appends a value from encoded bytes under another key.
    public mutating func append(_ key: String, _ value: BSONRawValue) {
        head(value.type, key, room: value.count)
        (base + count).copy(value.bytes)
        count += value.count
    }

    /// Appends a value from encoded bytes under a key that is known to contain no NUL.
    package mutating func append(key: UnsafeRawBufferPointer, _ value: BSONRawValue) {
        reserve(2 + key.count + value.count)
        let at = base + count
        at.storeBytes(of: value.typeByte, as: UInt8.self)
        (at + 1).copy(key)
        at.storeBytes(of: 0, toByteOffset: 1 + key.count, as: UInt8.self)
        (at + 2 + key.count).copy(value.bytes)
        count += 2 + key.count + value.count
    }

    /// Starts a nested document or array; pass the result to ``end(_:)``.
    @inlinable
    package mutating func begin() -> Int {
        let outer = open
        open = count
        count += 4
        return outer
    }

    /// Ends a nested document or array.
    @inlinable
    package mutating func end(_ outer: Int) {
        close()
        open = outer
    }
}
