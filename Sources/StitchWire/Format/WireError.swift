/// Says why bytes are no message; the connection that they came over cannot go on.
package enum WireError: Error, Sendable, Hashable, CustomStringConvertible {
    /// A length that no message has.
    case length(Int32)
    /// A kind of message that is not understood.
    case opcode(Int32)
    /// A flag of the lower 16, which must be understood, is not.
    case flags(UInt32)
    /// The checksum is not that of the bytes.
    case checksum
    /// The inside of the message does not fit together.
    case malformed(String)

    /// A sentence for the log, without the message's content.
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
