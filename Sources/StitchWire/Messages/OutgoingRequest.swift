package import BSONStore

/// The message of a client's command, which is written in one go to where it is sent from.
package struct OutgoingRequest: Sendable {
    private let requestID: Int32
    private let body: BSONDocument
    private let sequence: WireRequest.Sequence?
    /// The size in bytes without compression.
    package let byteCount: Int

    /// The largest message in bytes that is compressed although it does not shrink.
    private static let grownBytesMax = 4_096

    /// Makes a message.
    ///
    /// - Parameter sequence: documents of a field that the body does not have.
    package init(requestID: Int32, body: BSONDocument, sequence: WireRequest.Sequence?) {
        self.requestID = requestID
        self.body = body
        self.sequence = sequence
        let plain = WireHeader.byteCount + 4 + 1 + body.byteCount
        byteCount = plain + (sequence.map { 1 + Self.sectionByteCount($0) } ?? 0)
    }

    private static func sectionByteCount(_ sequence: WireRequest.Sequence) -> Int {
        sequence.documents.reduce(4 + sequence.field.utf8.count + 1) { $0 + $1.byteCount }
    }

    /// Writes the message to memory of its size.
    package func write(to memory: UnsafeMutableRawBufferPointer) {
        precondition(memory.count == byteCount, "The memory has the message's size")
        var rest = memory
        func write(_ bytes: UnsafeRawBufferPointer) {
            rest.copyMemory(from: bytes)
            rest = UnsafeMutableRawBufferPointer(rebasing: rest[bytes.count...])
        }
        func write(_ number: Int) {
            withUnsafeBytes(of: Int32(truncatingIfNeeded: number).littleEndian) { write($0) }
        }
        func write(byte: UInt8) { withUnsafeBytes(of: byte) { write($0) } }
        for number in [byteCount, Int(requestID), 0, Int(WireOpcode.message.rawValue), 0] {
            write(number)
        }
        write(byte: 0)
        body.withUnsafeBytes { write($0) }
        guard let sequence else { return }
        write(byte: 1)
        write(Self.sectionByteCount(sequence))
        for byte in sequence.field.utf8 { write(byte: byte) }
        write(byte: 0)
        for document in sequence.documents { document.withUnsafeBytes { write($0) } }
    }

    /// Returns the compressed message; `nil` where that does not pay.
    ///
    /// A server compresses its answer only if the request was compressed. So a small request is
    /// compressed even where it grows by some bytes, since its answer may be large.
    package func compressed(by compressor: WireCompressor) -> [UInt8]? {
        let plain = [UInt8](unsafeUninitializedCapacity: byteCount) { memory, count in
            write(to: UnsafeMutableRawBufferPointer(memory))
            count = byteCount
        }
        guard
            let compressed = WireEncoder.compressed(plain, compressor, requestID, 0, .message([])),
            compressed.count < plain.count || plain.count <= Self.grownBytesMax
        else { return nil }
        return compressed
    }
}
