/// The flags of an OP_MSG.
package struct WireFlags: OptionSet, Sendable, Hashable {
    /// The bits; a receiver must understand the lower 16 and may ignore the upper 16.
    package let rawValue: UInt32

    /// Makes flags of any bits.
    package init(rawValue: UInt32) { self.rawValue = rawValue }

    /// The last 4 bytes are a CRC-32C of all bytes before.
    package static let checksumPresent = WireFlags(rawValue: 1)
    /// In a request, no answer is wanted; in an answer, another one follows unasked.
    package static let moreToCome = WireFlags(rawValue: 2)
    /// The client accepts answers with ``moreToCome``.
    package static let exhaustAllowed = WireFlags(rawValue: 1 << 16)

    /// The set bits that a receiver must understand but that are unknown here.
    var unknownRequired: UInt32 { rawValue & 0xFFFF & ~3 }
}
