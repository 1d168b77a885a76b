/// The layouts of the standard library's types that this package relies on; no other file does.
///
/// Two facts are used, for speed only, and each has a slower way that needs no layout:
///
/// - A `String` of up to 15 bytes of UTF-8 stores them inline. `SmallString` composes such strings
///   in a third of the instructions of the library's initializer. ``knowsInlineStrings`` looks at
///   two strings at run time, which the optimizer folds into a constant.
/// - A `KeyedDecodingContainer` and a `KeyedEncodingContainer` are one reference to an object.
///   `BSONContainerBox` reuses the object and must see its reference count. Encoding then takes 0.5
///   (nested structs) to 0.75 (13 flat fields), decoding 0.6 to 0.85 of the time that it takes with
///   a new container for each value. ``isOneObject(_:)`` looks at the type at run time.
///
/// On Apple's systems the first is part of Swift's ABI; the second is not used there, because the
/// library comes with the system and may be another one than we tested. On Linux the library comes
/// with the compiler, so a compiler whose tests pass is safe: `StandardLibraryLayoutTests` compares
/// both with what the library itself says, bit for bit and by reflection.
enum StandardLibraryLayout {
    /// The two words of a string with inline text: its bytes, of which the last one holds the count
    /// and whether all are ASCII.
    typealias StringWords = (low: UInt64, high: UInt64)

    /// Whether strings have the layout that ``string(_:)`` needs.
    static var knowsInlineStrings: Bool {
        @inline(__always) get {
            MemoryLayout<String>.size == MemoryLayout<StringWords>.size
                && unsafeBitCast("", to: StringWords.self) == (0, 0xE0 << 56)
                && unsafeBitCast("abcdefghi", to: StringWords.self)
                    == (0x6867_6665_6463_6261, 0xE9 << 56 | 0x69)
        }
    }

    /// Returns the string with inline text that two words are, if ``knowsInlineStrings``.
    @inline(__always)
    static func string(_ words: StringWords) -> String { unsafeBitCast(words, to: String.self) }

    /// Whether a keyed container is known to be one reference to an object: one word, with values to
    /// spare for `nil`, that is retained when it is copied.
    static func isOneObject<Container>(_ type: Container.Type) -> Bool {
        #if os(Linux)
            MemoryLayout<Container>.size == MemoryLayout<AnyObject>.size
                && MemoryLayout<Container?>.size == MemoryLayout<AnyObject>.size
                && !_isPOD(type)
        #else
            false
        #endif
    }

    /// Returns the object of a keyed container, if ``isOneObject(_:)``.
    @inline(__always)
    static func object<Container>(of container: Container) -> AnyObject {
        unsafeBitCast(container, to: AnyObject.self)
    }

    /// Returns the container that an object was taken from.
    @inline(__always)
    static func container<Container>(at object: UnsafePointer<AnyObject>) -> Container {
        UnsafeRawPointer(object).load(as: Container.self)
    }
}
