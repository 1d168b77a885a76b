/// A cursor over a document's elements in place: no copies, no allocation, no reference counting.
///
/// It is meant for loops that run for every document. The bytes must be a valid document and must
/// outlive the cursor: use it inside ``BSONDocument/withCursor(_:)``, or over a database blob whose
/// content was validated when it was stored.
@frozen
public struct BSONCursor {
    /// The address of the next element, or of the terminator.
    @usableFromInline var position: UnsafeRawPointer
    /// The address of the terminator.
    @usableFromInline let end: UnsafeRawPointer

    /// Starts before the first element of a valid document.
    @inlinable
    public init(_ document: UnsafeRawBufferPointer) {
        self.init(document, offset: 4)
    }

    /// Returns the address of a document's bytes, of which there are at least five.
    @inlinable
    @inline(__always)
    static func base(_ document: UnsafeRawBufferPointer) -> UnsafeRawPointer {
        guard let base = document.baseAddress, document.count >= 5 else {
            preconditionFailure("A document has at least 5 bytes")
        }
        return base
    }

    /// Starts before the element at an offset of a valid document.
    @inlinable
    @inline(__always)
    init(_ document: UnsafeRawBufferPointer, offset: Int) {
        let base = Self.base(document)
        position = base + offset
        end = base + document.count - 1
    }

    /// Starts before the first element of a value that is a document or array.
    @inlinable
    public init(_ value: BSONRawValue) { self.init(value.bytes) }

    /// Steps to the next element; `nil` at the end.
    @inlinable
    @inline(__always)
    public mutating func next() -> BSONRawElement? {
        guard position < end else { return nil }
        let typeByte = position.load(as: UInt8.self)
        let key = position + 1
        let keyCount = Self.textCount(key, end)
        let start = key + keyCount + 1
        let count = Self.valueCount(typeByte, start, end)
        position = start + count
        return BSONRawElement(
            key: UnsafeRawBufferPointer(start: key, count: keyCount),
            value: BSONRawValue(typeByte: typeByte, start: start, count: count))
    }

    /// Steps to the next element with a key; `nil` if there is none.
    @inlinable
    public mutating func next(withKey wanted: UnsafeRawBufferPointer) -> BSONRawValue? {
        while let element = next() {
            if element.key.count == wanted.count,
                Self.isEqual(element.key, wanted)
            {
                return element.value
            }
        }
        return nil
    }

    /// Steps over the next element if it equals one of another document byte for byte.
    @inline(__always)
    package mutating func skip(sameAs element: BSONRawElement) -> Bool {
        let bytes = element.bytes
        guard bytes.count <= end - position,
            Self.isEqual(bytes, UnsafeRawBufferPointer(start: position, count: bytes.count))
        else { return false }
        position += bytes.count
        return true
    }

    /// Skips a number of elements and returns the value of the next one; `nil` at the end.
    @inlinable
    public mutating func skip(to index: Int) -> BSONRawValue? {
        guard index >= 0 else { return nil }
        for _ in 0..<index where next() == nil { return nil }
        return next()?.value
    }

    /// Compares two runs of the same number of bytes, eight per step.
    @inlinable
    @inline(__always)
    package static func isEqual(_ left: UnsafeRawBufferPointer, _ right: UnsafeRawBufferPointer)
        -> Bool
    {
        guard let a = left.baseAddress, let b = right.baseAddress else { return true }
        let count = left.count
        var at = 0
        while count - at >= 8 {
            if a.loadUnaligned(fromByteOffset: at, as: UInt64.self)
                != b.loadUnaligned(fromByteOffset: at, as: UInt64.self)
            {
                return false
            }
            at += 8
        }
        while at < count {
            if a.load(fromByteOffset: at, as: UInt8.self)
                != b.load(fromByteOffset: at, as: UInt8.self)
            {
                return false
            }
            at += 1
        }
        return true
    }

    /// Returns the bytes before the next NUL, eight per step while the document has that many.
    @inlinable
    @inline(__always)
    package static func textCount(_ start: UnsafeRawPointer, _ end: UnsafeRawPointer) -> Int {
        var at = start
        while end - at >= 8 {
            let word = UInt64(littleEndian: at.loadUnaligned(as: UInt64.self))
            let zeros = (word &- 0x0101_0101_0101_0101) & ~word & 0x8080_8080_8080_8080
            if zeros != 0 { return at - start + zeros.trailingZeroBitCount >> 3 }
            at += 8
        }
        while at.load(as: UInt8.self) != 0 { at += 1 }
        return at - start
    }

    /// The fixed number of bytes of each type's value, in 5 bits, with two marks.
    ///
    /// 0x20: the size must be computed. 0x40: the value begins with a length that must be added. A
    /// literal needs no initialization.
    @usableFromInline package static var sizes: StaticString {
        @inlinable @inline(__always) get {
            """
            \u{20}\u{8}\u{44}\u{40}\u{40}\u{45}\u{0}\u{C}\u{1}\u{8}\
            \u{0}\u{20}\u{50}\u{44}\u{44}\u{40}\u{4}\u{8}\u{8}\u{10}
            """
        }
    }

    /// Returns the size of a value on the wire in a valid document.
    ///
    /// A table avoids a branch per type, which the processor cannot predict.
    @inlinable
    @inline(__always)
    static func valueCount(
        _ typeByte: UInt8, _ start: UnsafeRawPointer, _ end: UnsafeRawPointer
    ) -> Int {
        guard typeByte < 0x14, end - start >= 4 else {
            return valueCountSlow(typeByte, start, end)
        }
        let size = Int(sizes.utf8Start[Int(typeByte)])
        if size & 0x20 != 0 { return valueCountSlow(typeByte, start, end) }
        let mask = 0 &- (size &>> 6)
        return size & 0x1F &+ int32(start) & mask
    }

    @usableFromInline
    @inline(never)
    static func valueCountSlow(
        _ typeByte: UInt8, _ start: UnsafeRawPointer, _ end: UnsafeRawPointer
    ) -> Int {
        switch typeByte {
        case 0x08: return 1
        case 0x0B:
            let pattern = textCount(start, end) + 1
            return pattern + textCount(start + pattern, end) + 1
        default: return 0
        }
    }

    @inlinable
    @inline(__always)
    package static func int32(_ start: UnsafeRawPointer) -> Int {
        Int(Int32(littleEndian: start.loadUnaligned(as: Int32.self)))
    }
}
