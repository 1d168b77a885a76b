/// UTF-8 validation of raw bytes, eight per step while they are ASCII.
enum UTF8Validator {
    /// The top bit of each of eight bytes.
    static let highBits: UInt64 = 0x8080_8080_8080_8080

    /// Returns the offset of the first byte of `start..<end` that is not UTF-8, or -1 if there is
    /// none.
    ///
    /// Source: RFC 3629 (no overlong forms, no surrogates, nothing above U+10FFFF).
    @inline(__always)
    static func firstFault(_ base: UnsafeRawPointer, from start: Int, to end: Int) -> Int {
        var at = start
        while end - at >= 32 {
            let block = base.loadUnaligned(fromByteOffset: at, as: SIMD4<UInt64>.self)
            let high = (block[0] | block[1] | block[2] | block[3]) & highBits
            if high != 0 { return firstFaultSlow(base, from: at, to: end) }
            at += 32
        }
        while end - at >= 8 {
            let word = base.loadUnaligned(fromByteOffset: at, as: UInt64.self)
            if word & highBits != 0 { return firstFaultSlow(base, from: at, to: end) }
            at += 8
        }
        while at < end {
            if base.load(fromByteOffset: at, as: UInt8.self) & 0x80 != 0 {
                return firstFaultSlow(base, from: at, to: end)
            }
            at += 1
        }
        return -1
    }

    /// Whether all bytes of `start..<end` are ASCII; at least eight bytes precede it.
    ///
    /// The last bytes are read together with some before them rather than one by one.
    @inline(__always)
    static func isASCII(_ base: UnsafeRawPointer, from start: Int, to end: Int) -> Bool {
        let count = end &- start
        let last = base.loadUnaligned(fromByteOffset: end &- 8, as: UInt64.self)
        guard count >= 16 else {
            if count >= 8 {
                let first = base.loadUnaligned(fromByteOffset: start, as: UInt64.self)
                return (first | last) & highBits == 0
            }
            let word = UInt64(littleEndian: last)
            return count == 0 || word &>> UInt64(64 &- 8 &* count) & highBits == 0
        }
        var high = base.loadUnaligned(fromByteOffset: end &- 16, as: SIMD2<UInt64>.self)
        var at = start
        while end &- at > 32 {
            high |= base.loadUnaligned(fromByteOffset: at, as: SIMD2<UInt64>.self)
            high |= base.loadUnaligned(fromByteOffset: at &+ 16, as: SIMD2<UInt64>.self)
            at = at &+ 32
        }
        if end &- at > 16 {
            high |= base.loadUnaligned(fromByteOffset: at, as: SIMD2<UInt64>.self)
        }
        return (high[0] | high[1]) & highBits == 0
    }

    /// Whether all bytes are ASCII.
    @inline(__always)
    static func isASCII(_ bytes: UnsafeRawBufferPointer) -> Bool {
        guard let base = bytes.baseAddress else { return true }
        let count = bytes.count
        var high: UInt64 = 0
        if count >= 8 {
            var at = 0
            while at < count &- 8 {
                high |= base.loadUnaligned(fromByteOffset: at, as: UInt64.self)
                at = at &+ 8
            }
            high |= base.loadUnaligned(fromByteOffset: count &- 8, as: UInt64.self)
        } else if count >= 4 {
            high = UInt64(base.loadUnaligned(as: UInt32.self))
            high |= UInt64(base.loadUnaligned(fromByteOffset: count &- 4, as: UInt32.self))
        } else {
            for at in 0..<count { high |= UInt64(base.load(fromByteOffset: at, as: UInt8.self)) }
        }
        return high & highBits == 0
    }

    @inline(never)
    private static func firstFaultSlow(
        _ base: UnsafeRawPointer, from start: Int, to end: Int
    ) -> Int {
        var at = start
        while at < end {
            if end - at >= 8 {
                let word = base.loadUnaligned(fromByteOffset: at, as: UInt64.self)
                if word & highBits == 0 {
                    at += 8
                    continue
                }
            }
            let width = scalarWidth(base, at: at, end: end)
            if width == 0 { return at }
            at += width
        }
        return -1
    }

    /// Returns the number of bytes of the scalar at an offset, 0 if it is malformed.
    @inline(__always)
    private static func scalarWidth(_ base: UnsafeRawPointer, at: Int, end: Int) -> Int {
        let lead = base.load(fromByteOffset: at, as: UInt8.self)
        let left = end - at
        switch lead {
        case 0x00...0x7F: return 1
        case 0xC2...0xDF: return left >= 2 && isTail(base, at + 1) ? 2 : 0
        case 0xE0...0xEF:
            guard left >= 3, isTail(base, at + 1), isTail(base, at + 2) else { return 0 }
            let second = base.load(fromByteOffset: at + 1, as: UInt8.self)
            if lead == 0xE0, second < 0xA0 { return 0 }
            if lead == 0xED, second > 0x9F { return 0 }
            return 3
        case 0xF0...0xF4:
            guard left >= 4, isTail(base, at + 1), isTail(base, at + 2), isTail(base, at + 3)
            else { return 0 }
            let second = base.load(fromByteOffset: at + 1, as: UInt8.self)
            if lead == 0xF0, second < 0x90 { return 0 }
            if lead == 0xF4, second > 0x8F { return 0 }
            return 4
        default: return 0
        }
    }

    @inline(__always)
    private static func isTail(_ base: UnsafeRawPointer, _ at: Int) -> Bool {
        base.load(fromByteOffset: at, as: UInt8.self) & 0xC0 == 0x80
    }
}
