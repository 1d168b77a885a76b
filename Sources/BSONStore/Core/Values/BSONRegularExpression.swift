/// A regular expression's pattern and options.
public struct BSONRegularExpression: Sendable, Hashable {
    /// The pattern, without NUL.
    public let pattern: String
    /// The option letters, sorted on encoding.
    public let options: String

    /// Creates an expression; the options are sorted alphabetically as the specification requires.
    ///
    /// A NUL in either text cannot be encoded and traps; for untrusted texts use
    /// ``init(validating:options:)``.
    public init(_ pattern: String, options: String = "") {
        precondition(
            !pattern.holdsNull && !options.holdsNull,
            "A regular expression cannot hold a NUL")
        self.pattern = pattern
        self.options = Self.inOrder(options)
    }

    /// Creates an expression from untrusted texts.
    ///
    /// - Throws: ``BSONError/Code/embeddedNull`` if either contains a NUL.
    public init(validating pattern: String, options: String = "") throws(BSONError) {
        guard !pattern.holdsNull, !options.holdsNull else {
            throw BSONError(.embeddedNull, "A regular expression cannot hold a NUL")
        }
        self.init(pattern, options: options)
    }

    /// Sorts option letters by their Unicode numbers, without splitting a scalar.
    static func inOrder(_ options: String) -> String {
        guard options.utf8.count > 1 else { return options }
        return String(String.UnicodeScalarView(options.unicodeScalars.sorted()))
    }

    /// Creates an expression from texts of a valid document, which contain no NUL.
    init(decoded pattern: String, options: String) {
        self.pattern = pattern
        self.options = Self.inOrder(options)
    }
}

extension BSONRegularExpression {
    /// Whether the encoded bytes are equal.
    public static func == (left: Self, right: Self) -> Bool {
        left.pattern.utf8.elementsEqual(right.pattern.utf8)
            && left.options.utf8.elementsEqual(right.options.utf8)
    }

    /// Hashes the parts that ``==(_:_:)`` compares.
    public func hash(into hasher: inout Hasher) {
        pattern.withUTF8Bytes { hasher.combine(bytes: $0) }
        options.withUTF8Bytes { hasher.combine(bytes: $0) }
    }
}
