extension String {
    /// Copies bytes that are known to be UTF-8.
    @inline(__always)
    init(validUTF8 bytes: UnsafeRawBufferPointer) {
        guard bytes.count > SmallString.countMax, let base = bytes.baseAddress else {
            self = SmallString.string(bytes)
            return
        }
        self.init(longUTF8: UnsafeRawBufferPointer(start: base, count: bytes.count))
    }

    @inline(never)
    private init(longUTF8 bytes: UnsafeRawBufferPointer) {
        #if os(Linux)
            // Checked when the document was; elsewhere this is newer than the systems we support.
            let span = Span<UInt8>(_unsafeBytes: bytes)
            self.init(
                copying: UTF8Span(unchecked: span, isKnownASCII: UTF8Validator.isASCII(bytes)))
        #else
            self.init(decoding: bytes.assumingMemoryBound(to: UInt8.self), as: UTF8.self)
        #endif
    }
}

/// Makes the strings that hold their text in themselves, as keys mostly do.
///
/// Such a string is two words: up to 15 bytes, and a last byte that tells the count and whether all
/// are ASCII. Composing them takes a third of the instructions of the library's initializer. The
/// layout is part of Swift's ABI on Apple's systems and the same on Linux with 64 bits; where
/// strings look otherwise, they are made by the library's initializer.
enum SmallString {
    /// The bytes that such a string holds at most.
    static let countMax = 15

    private typealias Words = (low: UInt64, high: UInt64)

    /// Whether strings look as they are composed here; the optimizer folds it into a constant.
    private static var isLayoutKnown: Bool {
        @inline(__always) get {
            MemoryLayout<String>.size == MemoryLayout<Words>.size
                && unsafeBitCast("", to: Words.self) == (0, 0xE0 << 56)
                && unsafeBitCast("abcdefghi", to: Words.self)
                    == (0x6867_6665_6463_6261, 0xE9 << 56 | 0x69)
        }
    }

    /// A string of up to 15 bytes that are known to be UTF-8.
    @inline(__always)
    static func string(_ bytes: UnsafeRawBufferPointer) -> String {
        guard isLayoutKnown else { return made(bytes) }
        return unsafeBitCast(words(bytes), to: String.self)
    }

    /// The library's string.
    @inline(never)
    private static func made(_ bytes: UnsafeRawBufferPointer) -> String {
        String(unsafeUninitializedCapacity: countMax) { text in
            UnsafeMutableRawBufferPointer(text).copyMemory(from: bytes)
            return bytes.count
        }
    }

    /// The two words, by loads that may overlap.
    @inline(__always)
    private static func words(_ bytes: UnsafeRawBufferPointer) -> Words {
        let count = bytes.count
        guard let start = bytes.baseAddress, count > 0 else { return (0, 0xE0 << 56) }
        func load<T: FixedWidthInteger & BitwiseCopyable>(_ offset: Int, _: T.Type) -> UInt64 {
            UInt64(T(littleEndian: start.loadUnaligned(fromByteOffset: offset, as: T.self)))
        }
        var words: Words = (0, 0)
        if count >= 8 {
            words.low = load(0, UInt64.self)
            words.high = load(count &- 8, UInt64.self) >> UInt64((16 &- count) &* 8)
        } else if count >= 4 {
            words.low =
                load(0, UInt32.self) | load(count &- 4, UInt32.self) &<< UInt64((count &- 4) &* 8)
        } else {
            let middle = count &>> 1
            words.low =
                load(0, UInt8.self) | load(middle, UInt8.self) &<< UInt64(middle &* 8)
                | load(count &- 1, UInt8.self) &<< UInt64((count &- 1) &* 8)
        }
        let isASCII = (words.low | words.high) & UTF8Validator.highBits == 0
        words.high |= (isASCII ? 0xE0 : 0xA0) << 56 | UInt64(count) &<< 56
        return words
    }
}
