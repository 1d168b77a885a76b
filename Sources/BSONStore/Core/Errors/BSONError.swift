/// The reason why bytes, a value or a text are not BSON, and where.
public struct BSONError: Error, Sendable, Hashable, CustomStringConvertible {
    /// The kind of fault.
    public enum Code: String, Sendable, Hashable, CaseIterable {
        /// A length, terminator or element runs past its container.
        case truncated
        /// A length prefix disagrees with the bytes.
        case invalidLength
        /// The type byte of an element is not in the specification.
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
        /// A JSON object looks like an Extended JSON wrapper but is malformed.
        case invalidExtendedJSON
    }

    /// The kind of fault.
    public let code: Code
    /// A human-readable description of the fault.
    public let message: String
    /// The offset in bytes at which the fault was found, if there is one.
    public let byteOffset: Int?
    /// The line in a text, counted from 1, if there is one.
    public let line: Int?
    /// The column in a text in bytes, counted from 1, if there is one.
    public let column: Int?

    /// Creates an error; the offset and the place in a text are optional.
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

    /// The message with the place, if one is known.
    public var description: String {
        if let line, let column { return "\(message) (line \(line), column \(column))" }
        if let byteOffset { return "\(message) (at byte \(byteOffset))" }
        return message
    }
}
