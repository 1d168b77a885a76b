/// The flags of an OP_MSG.
package struct WireFlags: OptionSet, Sendable, Hashable {
    /// The bits; the lower 16 must be understood, the upper 16 may be ignored.
    package let rawValue: UInt32

    /// Takes any bits.
    package init(rawValue: UInt32) { self.rawValue = rawValue }

    /// The last 4 bytes are a CRC-32C of all before.
    package static let checksumPresent = WireFlags(rawValue: 1)
    /// From a client, no answer is wanted; from a server, another answer follows by itself.
    package static let moreToCome = WireFlags(rawValue: 2)
    /// The client takes answers with ``moreToCome``.
    package static let exhaustAllowed = WireFlags(rawValue: 1 << 16)

    /// The bits that a receiver must understand and that are not known here.
    var unknownRequired: UInt32 { rawValue & 0xFFFF & ~3 }
}
