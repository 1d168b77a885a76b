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
