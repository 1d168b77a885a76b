/// The reason why bytes are not a valid message; their connection cannot continue.
package enum WireError: Error, Sendable, Hashable, CustomStringConvertible {
    /// The length is impossible.
    case length(Int32)
    /// The kind of message is unknown.
    case opcode(Int32)
    /// A flag of the lower 16, which must be understood, is unknown.
    case flags(UInt32)
    /// The checksum does not match.
    case checksum
    /// The content of the message is inconsistent.
    case malformed(String)

    /// The error of compressed data that cannot be decompressed to the declared size.
    static var invalidCompression: WireError { .malformed("compressed data that is not valid") }

    /// A description for the log, without the message's content.
    package var description: String {
        switch self {
        case .length(let length): "A message cannot have \(length) bytes"
        case .opcode(let opcode): "No message has the opcode \(opcode)"
        case .flags(let flags): "The message has unknown flags: \(flags)"
        case .checksum: "The message's checksum is wrong"
        case .malformed(let reason): "The message is malformed: \(reason)"
        }
    }
}
