extension BSONStructureValidator {
    /// The size on the wire of each type's value for ``skim()``, or one of the marks.
    ///
    /// A literal needs no initialization.
    private static var kinds: StaticString {
        @inline(__always) get {
            """
            \u{7F}\u{8}\u{40}\u{7F}\u{7F}\u{7F}\u{0}\u{C}\u{41}\u{8}\
            \u{0}\u{7F}\u{7F}\u{40}\u{40}\u{7F}\u{4}\u{8}\u{8}\u{10}
            """
        }
    }

    private static var text: UInt8 { 0x40 }
    private static var bool: UInt8 { 0x41 }

    /// Skips elements with short ASCII keys and values of common types, and stops before the first
    /// other element, including a faulty one.
    ///
    /// Most documents have no others, and a loop with fewer cases is faster.
    ///
    /// - Parameters:
    ///   - base: the bytes, as many as `count`.
    ///   - start: the offset of an element, or `end`.
    ///   - end: the offset of the terminator of its document, below `count`.
    /// - Returns: the offset at which it stopped.
    @inline(__always)
    static func skim(
        _ base: UnsafeRawPointer, from start: Int, to end: Int, count: Int
    ) -> Int {
        var at = start
        // One read each fetches the type and a word of the key.
        let last = min(end, count - 9)
        while at < last {
            let type = base.load(fromByteOffset: at, as: UInt8.self)
            guard type < 0x14 else { break }
            let word = UInt64(
                littleEndian: base.loadUnaligned(fromByteOffset: at &+ 1, as: UInt64.self))
            let zeros = (word &- 0x0101_0101_0101_0101) & ~word & UTF8Validator.highBits
            // The lowest mark is exact; the marks exclude bytes with the top bit.
            guard zeros != 0, word & (zeros ^ (zeros &- 1)) & UTF8Validator.highBits == 0
            else { break }
            let value = at &+ 2 &+ zeros.trailingZeroBitCount &>> 3
            let kind = kinds.utf8Start[Int(type)]
            var next = value &+ Int(kind)
            if kind >= text {
                if kind == text {
                    next = skimText(base, value, end)
                    guard next > 0 else { break }
                } else if kind == bool, value < end,
                    base.load(fromByteOffset: value, as: UInt8.self) <= 1
                {
                    next = value &+ 1
                } else {
                    break
                }
            }
            guard next <= end else { break }
            at = next
        }
        return at
    }

    /// Returns the end of the ASCII text whose length is at an offset; 0 if there is none.
    @inline(__always)
    private static func skimText(_ base: UnsafeRawPointer, _ start: Int, _ end: Int) -> Int {
        guard end &- start >= 5 else { return 0 }
        let length = Int(
            Int32(littleEndian: base.loadUnaligned(fromByteOffset: start, as: Int32.self)))
        guard length >= 1, length <= end &- start &- 4 else { return 0 }
        let last = start &+ 3 &+ length
        guard base.load(fromByteOffset: last, as: UInt8.self) == 0,
            UTF8Validator.isASCII(base, from: start &+ 4, to: last)
        else { return 0 }
        return last &+ 1
    }
}
