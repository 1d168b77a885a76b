extension String {
    /// Creates a string from bytes that are known to be UTF-8.
    @inline(__always)
    package init(validUTF8 bytes: UnsafeRawBufferPointer) {
        guard bytes.count > SmallString.countMax, let base = bytes.baseAddress else {
            self = SmallString.string(bytes)
            return
        }
        self.init(longUTF8: UnsafeRawBufferPointer(start: base, count: bytes.count))
    }

    @inline(never)
    private init(longUTF8 bytes: UnsafeRawBufferPointer) {
        #if os(Linux)
            // Validated with the document; on other systems this function needs a newer one than we
            // support.
            let span = Span<UInt8>(_unsafeBytes: bytes)
            self.init(
                copying: UTF8Span(unchecked: span, isKnownASCII: UTF8Validator.isASCII(bytes)))
        #else
            self.init(decoding: bytes.assumingMemoryBound(to: UInt8.self), as: UTF8.self)
        #endif
    }
}

/// Strings that store their text inline, as keys mostly do.
///
/// `StandardLibraryLayout` says how and why; where the layout is another one, the library's
/// initializer makes the string.
enum SmallString {
    /// The maximum number of bytes in such a string.
    static let countMax = 15

    /// Returns a string of up to 15 bytes that are known to be UTF-8.
    @inline(__always)
    static func string(_ bytes: UnsafeRawBufferPointer) -> String {
        guard StandardLibraryLayout.knowsInlineStrings else { return made(bytes) }
        return StandardLibraryLayout.string(words(bytes))
    }

    /// Returns a string made by the library's initializer.
    @inline(never)
    private static func made(_ bytes: UnsafeRawBufferPointer) -> String {
        String(unsafeUninitializedCapacity: countMax) { text in
            UnsafeMutableRawBufferPointer(text).copyMemory(from: bytes)
            return bytes.count
        }
    }

    /// Returns the two words, by loads that may overlap.
    @inline(__always)
    private static func words(_ bytes: UnsafeRawBufferPointer) -> StandardLibraryLayout.StringWords
    {
        let count = bytes.count
        guard let start = bytes.baseAddress, count > 0 else { return (0, 0xE0 << 56) }
        func load<T: FixedWidthInteger & BitwiseCopyable>(_ offset: Int, _: T.Type) -> UInt64 {
            UInt64(T(littleEndian: start.loadUnaligned(fromByteOffset: offset, as: T.self)))
        }
        var words: StandardLibraryLayout.StringWords = (0, 0)
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
