/// The header of a message: its length, its number, the number of the message it answers, and its
/// kind.
package struct WireHeader: Sendable, Hashable {
    /// The size of a header in bytes.
    package static let byteCount = 16

    /// The size of the message with this header, in bytes.
    package var length: Int32
    /// The number that the sender gave the message.
    package var requestID: Int32
    /// The number of the message that this one answers; 0 for a request.
    package var responseTo: Int32
    /// The kind; see ``WireOpcode``.
    package var opcode: Int32

    /// Makes a header.
    package init(length: Int32, requestID: Int32, responseTo: Int32, opcode: Int32) {
        self.length = length
        self.requestID = requestID
        self.responseTo = responseTo
        self.opcode = opcode
    }

    /// Reads a header; `nil` from fewer than 16 bytes.
    package init?(_ bytes: UnsafeRawBufferPointer) {
        guard bytes.count >= Self.byteCount else { return nil }
        func number(_ offset: Int) -> Int32 {
            Int32(littleEndian: bytes.loadUnaligned(fromByteOffset: offset, as: Int32.self))
        }
        self.init(
            length: number(0), requestID: number(4), responseTo: number(8), opcode: number(12))
    }
}
