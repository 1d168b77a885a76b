/// Says why bytes, a value or a text are not BSON, and where.
public struct BSONError: Error, Sendable, Hashable, CustomStringConvertible {
    /// Classifies what was wrong.
    public enum Code: String, Sendable, Hashable, CaseIterable {
        /// A length, terminator or element runs past its container.
        case truncated
        /// A length prefix disagrees with the bytes.
        case invalidLength
        /// An element's type byte is none of the specification's.
        case unknownType
        /// A string or key is not UTF-8.
        case invalidUTF8
        /// A key or regular expression holds a NUL.
        case embeddedNull
        /// A boolean byte is neither 0 nor 1.
        case invalidBool
        /// A binary of subtype 2 has a wrong inner length.
        case invalidBinary
        /// Documents are nested deeper than the limit.
        case tooDeep
        /// A document is larger than the limit.
        case tooLarge
        /// A dotted path leads through a value that has no fields.
        case pathNotViable
        /// A text is not a number of the wanted type.
        case invalidNumber
        /// A text is not an ObjectId.
        case invalidObjectID
        /// A text is not JSON.
        case invalidJSON
        /// A JSON object looks like an Extended JSON wrapper but is none.
        case invalidExtendedJSON
    }

    /// What was wrong.
    public let code: Code
    /// A sentence for people.
    public let message: String
    /// The offset in bytes at which it was noticed, where there is one.
    public let byteOffset: Int?
    /// Line of a text, counted from 1, where there is one.
    public let line: Int?
    /// Column of a text in bytes, counted from 1, where there is one.
    public let column: Int?

    /// Names a fault; the offset and the place in a text are optional.
    public init(
        _ code: Code, _ message: String, byteOffset: Int? = nil, line: Int? = nil,
        column: Int? = nil
    ) {
        self.code = code
        self.message = message
        self.byteOffset = byteOffset
        self.line = line
        self.column = column
    }

    /// The message with the place, where one is known.
    public var description: String {
        if let line, let column { return "\(message) (line \(line), column \(column))" }
        if let byteOffset { return "\(message) (at byte \(byteOffset))" }
        return message
    }
}
