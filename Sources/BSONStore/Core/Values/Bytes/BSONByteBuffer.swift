/// A growing run of bytes that stores without uniqueness or bounds checks.
///
/// The caller reserves room first; storing does not check the capacity again, except in debug
/// builds.
struct BSONByteBuffer: ~Copyable {
    private(set) var base: UnsafeMutablePointer<UInt8>
    private var capacity: Int
    var count = 0

    init(capacity: Int) {
        self.capacity = max(capacity, 256)
        base = .allocate(capacity: self.capacity)
    }

    deinit { base.deallocate() }

    /// Reserves room for more bytes.
    @inline(__always)
    mutating func reserve(_ additional: Int) {
        if _slowPath(additional > capacity - count) { grow(additional) }
    }

    @inline(never)
    private mutating func grow(_ additional: Int) {
        let wanted = max(capacity * 4, count + additional)
        let larger = UnsafeMutablePointer<UInt8>.allocate(capacity: wanted)
        larger.update(from: base, count: count)
        base.deallocate()
        base = larger
        capacity = wanted
    }

    /// The address of the next byte.
    var tail: UnsafeMutablePointer<UInt8> {
        @inline(__always) get { base + count }
    }

    /// Stores one byte in reserved room.
    @inline(__always)
    mutating func put(_ byte: UInt8) {
        assert(count < capacity)
        base[count] = byte
        count += 1
    }

    /// Stores an integer in little-endian order in reserved room.
    @inline(__always)
    mutating func put<T: FixedWidthInteger>(little value: T) {
        assert(count + MemoryLayout<T>.size <= capacity)
        UnsafeMutableRawPointer(tail).storeBytes(of: value.littleEndian, as: T.self)
        count += MemoryLayout<T>.size
    }

    /// Stores bytes in reserved room.
    @inline(__always)
    mutating func put(_ bytes: UnsafeRawPointer, count added: Int) {
        assert(count + added <= capacity)
        UnsafeMutableRawPointer(tail).copyMemory(from: bytes, byteCount: added)
        count += added
    }

    /// Stores bytes in reserved room and returns whether none of them is zero.
    @inline(__always)
    mutating func put(nonzero source: UnsafeRawPointer, count added: Int) -> Bool {
        assert(count + added <= capacity)
        let target = UnsafeMutableRawPointer(tail)
        var zeros: UInt64 = 0
        var offset = 0
        while added - offset >= 8 {
            let word = source.loadUnaligned(fromByteOffset: offset, as: UInt64.self)
            zeros |= (word &- 0x0101_0101_0101_0101) & ~word & 0x8080_8080_8080_8080
            target.storeBytes(of: word, toByteOffset: offset, as: UInt64.self)
            offset += 8
        }
        var isNonzero = zeros == 0
        while offset < added {
            let byte = source.load(fromByteOffset: offset, as: UInt8.self)
            isNonzero = isNonzero && byte != 0
            target.storeBytes(of: byte, toByteOffset: offset, as: UInt8.self)
            offset += 1
        }
        count += added
        return isNonzero
    }

    /// Stores the decimal digits of a position in reserved room.
    @inline(__always)
    mutating func put(digits value: Int) {
        if value < 10 { return put(UInt8(ascii: "0") + UInt8(truncatingIfNeeded: value)) }
        var bound = 10
        while value / bound >= 10 { bound *= 10 }
        while bound > 0 {
            put(UInt8(ascii: "0") + UInt8(truncatingIfNeeded: value / bound % 10))
            bound /= 10
        }
    }

    /// Replaces a run of bytes by others of any count, moving the rest.
    mutating func replace(_ range: Range<Int>, with bytes: UnsafeBufferPointer<UInt8>) {
        reserve(max(bytes.count - range.count, 0))
        let end = range.lowerBound + bytes.count
        (base + end).update(from: base + range.upperBound, count: count - range.upperBound)
        if let source = bytes.baseAddress {
            (base + range.lowerBound).update(from: source, count: bytes.count)
        }
        count += bytes.count - range.count
    }

    /// Stores constant text in reserved room.
    @inline(__always)
    mutating func put(_ text: StaticString) {
        assert(count + text.utf8CodeUnitCount <= capacity)
        tail.update(from: text.utf8Start, count: text.utf8CodeUnitCount)
        count += text.utf8CodeUnitCount
    }

    /// Overwrites four bytes that were stored before.
    @inline(__always)
    mutating func patch(length value: Int, at index: Int) {
        let value = Int32(truncatingIfNeeded: value).littleEndian
        UnsafeMutableRawPointer(base + index).storeBytes(of: value, as: Int32.self)
    }

    /// Removes the bytes, and releases memory above a number of them.
    mutating func clear(keeping capacityMax: Int) {
        count = 0
        if capacity > capacityMax { self = BSONByteBuffer(capacity: 1_000) }
    }

    /// Returns the bytes from an offset on, valid until the next change.
    func bytes(from offset: Int) -> UnsafeRawBufferPointer {
        UnsafeRawBufferPointer(start: base + offset, count: count - offset)
    }

    /// Returns a copy of a range of the bytes.
    func array(_ range: Range<Int>) -> [UInt8] {
        Array(UnsafeBufferPointer(start: base + range.lowerBound, count: range.count))
    }
}
