/// Holds bytes with a subtype.
public struct BSONBinary: Sendable, Hashable {
    /// The subtype's byte, for example 0 generic, 4 UUID, 0x80 and above the user's.
    public let subtype: UInt8
    /// The content.
    public let bytes: [UInt8]

    /// Makes a binary of a subtype, generic unless told.
    public init(_ bytes: [UInt8], subtype: UInt8 = 0) {
        self.bytes = bytes
        self.subtype = subtype
    }
}

/// Orders operations inside of MongoDB: seconds and a counter in that second.
public struct BSONTimestamp: Sendable, Hashable, Comparable {
    /// Seconds since 1970.
    public let seconds: UInt32
    /// The counter in that second.
    public let increment: UInt32

    /// Makes a timestamp of its two parts.
    public init(seconds: UInt32, increment: UInt32) {
        self.seconds = seconds
        self.increment = increment
    }

    /// Seconds first, then the counter.
    public static func < (left: Self, right: Self) -> Bool {
        (left.seconds, left.increment) < (right.seconds, right.increment)
    }
}

/// Counts milliseconds since 1970, negative before.
public struct BSONDatetime: Sendable, Hashable, Comparable {
    /// Milliseconds since 1970-01-01T00:00:00Z.
    public let milliseconds: Int64

    /// Makes a datetime of its milliseconds since 1970.
    public init(milliseconds: Int64) { self.milliseconds = milliseconds }

    /// Earlier is less.
    public static func < (left: Self, right: Self) -> Bool {
        left.milliseconds < right.milliseconds
    }
}

/// Holds a regular expression's pattern and its options.
public struct BSONRegularExpression: Sendable, Hashable {
    /// The pattern, without NUL.
    public let pattern: String
    /// The option letters, sorted on encoding.
    public let options: String

    /// Makes an expression; the options are kept in alphabetical order as the specification asks.
    ///
    /// A NUL in either cannot be encoded and traps; for foreign texts use
    /// ``init(validating:options:)``.
    public init(_ pattern: String, options: String = "") {
        precondition(
            !pattern.holdsNull && !options.holdsNull,
            "A regular expression cannot hold a NUL")
        self.pattern = pattern
        self.options = Self.inOrder(options)
    }

    /// Makes an expression of texts that come from outside.
    ///
    /// - Throws: ``BSONError/Code/embeddedNull`` when either holds a NUL.
    public init(validating pattern: String, options: String = "") throws(BSONError) {
        guard !pattern.holdsNull, !options.holdsNull else {
            throw BSONError(.embeddedNull, "A regular expression cannot hold a NUL")
        }
        self.init(pattern, options: options)
    }

    /// Puts option letters in the order of their Unicode numbers, never inside of a letter.
    static func inOrder(_ options: String) -> String {
        guard options.utf8.count > 1 else { return options }
        return String(String.UnicodeScalarView(options.unicodeScalars.sorted()))
    }

    /// Takes texts of a valid document, which hold no NUL.
    init(decoded pattern: String, options: String) {
        self.pattern = pattern
        self.options = Self.inOrder(options)
    }
}

/// Points to a document of a collection; deprecated in BSON, kept for reading old data.
public struct BSONDBPointer: Sendable, Hashable {
    /// The namespace's text.
    public let namespace: String
    /// The document's id.
    public let id: BSONObjectID

    /// Makes a pointer to a document.
    public init(namespace: String, id: BSONObjectID) {
        self.namespace = namespace
        self.id = id
    }
}

/// Holds JavaScript with the variables it may use; deprecated in BSON.
public struct BSONJavaScriptWithScope: Sendable, Hashable {
    /// The code's text.
    public let code: String
    /// The variables.
    public let scope: BSONDocument

    /// Makes code with its scope.
    public init(code: String, scope: BSONDocument) {
        self.code = code
        self.scope = scope
    }
}

// Texts compare by their bytes: Swift's `==` on String takes "é" in two encodings for the same.

extension BSONRegularExpression {
    /// Equal when the encoded bytes are.
    public static func == (left: Self, right: Self) -> Bool {
        left.pattern.utf8.elementsEqual(right.pattern.utf8)
            && left.options.utf8.elementsEqual(right.options.utf8)
    }

    /// Feeds what ``==(_:_:)`` compares.
    public func hash(into hasher: inout Hasher) {
        pattern.withUTF8Bytes { hasher.combine(bytes: $0) }
        options.withUTF8Bytes { hasher.combine(bytes: $0) }
    }
}

extension BSONDBPointer {
    /// Equal when the encoded bytes are.
    public static func == (left: Self, right: Self) -> Bool {
        left.namespace.utf8.elementsEqual(right.namespace.utf8) && left.id == right.id
    }

    /// Feeds what ``==(_:_:)`` compares.
    public func hash(into hasher: inout Hasher) {
        namespace.withUTF8Bytes { hasher.combine(bytes: $0) }
        hasher.combine(id)
    }
}

extension BSONJavaScriptWithScope {
    /// Equal when the encoded bytes are.
    public static func == (left: Self, right: Self) -> Bool {
        left.code.utf8.elementsEqual(right.code.utf8) && left.scope == right.scope
    }

    /// Feeds what ``==(_:_:)`` compares.
    public func hash(into hasher: inout Hasher) {
        code.withUTF8Bytes { hasher.combine(bytes: $0) }
        hasher.combine(scope)
    }
}
