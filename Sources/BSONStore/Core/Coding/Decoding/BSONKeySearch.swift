/// A search for values by key in the document of a node.
///
/// Types usually request their keys in the order of their declaration, which is mostly the order in
/// the document: a search begins where the last one ended, and wraps around once. It has its own
/// memory, which containers reach without reference counting.
struct BSONKeySearch {
    private let start: UnsafeRawPointer
    /// The address behind the last element.
    private let end: UnsafeRawPointer
    /// The address at which the next search begins.
    private var hint: UnsafeRawPointer
    /// The marks of all keys, set after a search visited every element; 0 before.
    private var seenKeys: UInt64 = 0

    /// Starts before the first element; a value that is not a document is never searched.
    @inline(__always)
    init(_ raw: BSONRawValue) {
        start = raw.start
        hint = raw.start + 4
        end = raw.start + max(raw.count &- 1, 4)
    }

    private var document: UnsafeRawBufferPointer {
        UnsafeRawBufferPointer(start: start, count: end - start + 1)
    }

    /// Finds the value of a key.
    @inline(__always)
    mutating func find(_ key: String) -> BSONRawValue? {
        key.withUTF8Bytes { wanted in
            if hint < end, BSONCursor.textCount(hint + 1, end) == wanted.count,
                Self.isKey(hint + 1, wanted)
            {
                let start = hint + 2 + wanted.count
                let typeByte = hint.load(as: UInt8.self)
                let count = BSONCursor.valueCount(typeByte, start, end)
                hint = start + count
                return BSONRawValue(typeByte: typeByte, start: start, count: count)
            }
            return search(wanted)
        }
    }

    /// Whether the first bytes of a key equal the wanted ones; the last word overlaps the one
    /// before.
    @inline(__always)
    private static func isKey(
        _ start: UnsafeRawPointer, _ wanted: UnsafeRawBufferPointer
    ) -> Bool {
        let count = wanted.count
        guard let other = wanted.baseAddress else { return true }
        @inline(__always)
        func equal<T: FixedWidthInteger & BitwiseCopyable>(_ offset: Int, _: T.Type) -> Bool {
            start.loadUnaligned(fromByteOffset: offset, as: T.self)
                == other.loadUnaligned(fromByteOffset: offset, as: T.self)
        }
        if count >= 8 {
            var offset = 0
            while offset + 8 <= count {
                guard equal(offset, UInt64.self) else { return false }
                offset += 8
            }
            return equal(count - 8, UInt64.self)
        }
        if count >= 4 { return equal(0, UInt32.self) && equal(count - 4, UInt32.self) }
        if count >= 2 { return equal(0, UInt16.self) && equal(count - 2, UInt16.self) }
        return count == 0 || equal(0, UInt8.self)
    }

    /// Searches the elements behind the hint, then those before it.
    @inline(never)
    private mutating func search(_ wanted: UnsafeRawBufferPointer) -> BSONRawValue? {
        // Missing keys would cost a full search each: the marks of the first one exclude most of
        // them.
        if seenKeys != 0, seenKeys & Self.mark(wanted) == 0 { return nil }
        var seen: UInt64 = 0
        var cursor = BSONCursor(document, offset: hint - start)
        let stop = hint
        for _ in 0..<2 {
            while let element = cursor.next() {
                if element.key.count == wanted.count, BSONCursor.isEqual(element.key, wanted) {
                    hint = cursor.position
                    return element.value
                }
                seen |= Self.mark(element.key)
                if cursor.position == stop { break }
            }
            cursor = BSONCursor(document)
            if cursor.position == stop { break }
        }
        seenKeys = seen | 1
        return nil
    }

    /// Returns one of 64 bits for a key; equal keys have equal marks.
    @inline(__always)
    private static func mark(_ key: UnsafeRawBufferPointer) -> UInt64 {
        guard let first = key.first, let last = key.last else { return 1 }
        let mixed = key.count &* 29 &+ Int(first) &* 7 &+ Int(last)
        return 1 << UInt64(truncatingIfNeeded: mixed & 63)
    }
}
