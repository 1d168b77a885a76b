/// Grows a run of bytes by hand, so that storing one costs no uniqueness or bounds check.
///
/// The caller reserves first; storing does not look at the capacity again (debug builds do).
struct ExtendedJSONBuffer: ~Copyable {
    private(set) var base: UnsafeMutablePointer<UInt8>
    private var capacity: Int
    var count = 0

    init(capacity: Int) {
        self.capacity = max(capacity, 256)
        base = .allocate(capacity: self.capacity)
    }

    deinit { base.deallocate() }

    /// Makes room for so many bytes more.
    @inline(__always)
    mutating func reserve(_ additional: Int) {
        if _slowPath(additional > capacity - count) { grow(additional) }
    }

    @inline(never)
    private mutating func grow(_ additional: Int) {
        let wanted = max(capacity * 2, count + additional)
        let larger = UnsafeMutablePointer<UInt8>.allocate(capacity: wanted)
        larger.update(from: base, count: count)
        base.deallocate()
        base = larger
        capacity = wanted
    }

    /// Where the next byte goes.
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

    /// A copy of a range of the bytes.
    func array(_ range: Range<Int>) -> [UInt8] {
        Array(UnsafeBufferPointer(start: base + range.lowerBound, count: range.count))
    }
}
