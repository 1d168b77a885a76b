/// Names the ways in which messages may be compressed.
///
/// Source: the drivers' specification "Wire Compression".
package enum WireCompressor: UInt8, Sendable, Hashable, CaseIterable {
    /// The bytes as they are.
    case none = 0
    /// Snappy.
    case snappy = 1
    /// zlib.
    case zlib = 2

    /// The name by which a client asks for it.
    package var name: String {
        switch self {
        case .none: "noop"
        case .snappy: "snappy"
        case .zlib: "zlib"
        }
    }

    /// Those of a client's names that there are here, in its order.
    package static func known(among names: [String]) -> [String] {
        names.filter { name in allCases.contains { $0.name == name && $0 != .none } }
    }

    func expand(_ bytes: UnsafeRawBufferPointer, count: Int) throws(WireError) -> [UInt8] {
        switch self {
        case .none:
            guard bytes.count == count else { throw Inflate.broken }
            return Array(bytes)
        case .snappy: return try Snappy.expand(bytes, count: count)
        case .zlib: return try Inflate.zlib(bytes, count: count)
        }
    }

    func compress(_ bytes: [UInt8]) -> [UInt8] {
        switch self {
        case .none: bytes
        case .snappy: Snappy.compress(bytes)
        case .zlib: Deflate.zlib(bytes)
        }
    }
}

/// Says what stands before the bytes of a compressed message, behind its header.
package struct WireCompression: Sendable, Hashable {
    /// The size in bytes.
    static let byteCount = 9
    /// Messages with fewer bytes are not worth it.
    static let bytesMin = 256

    /// The kind of the message inside.
    let opcode: Int32
    /// How many bytes the message has inside, without its header.
    package let expandedCount: Int
    /// How it is compressed.
    let compressor: WireCompressor

    /// Reads it; `nil` for a message that is not compressed.
    ///
    /// - Throws: for unknown ways, and for sizes that no message has.
    package init?(_ message: UnsafeRawBufferPointer, _ limits: WireLimits) throws(WireError) {
        guard let header = WireHeader(message), header.opcode == WireOpcode.compressed.rawValue
        else { return nil }
        var reader = WireReader(message, from: WireHeader.byteCount)
        opcode = Int32(bitPattern: try reader.uint32())
        expandedCount = Int(Int32(bitPattern: try reader.uint32()))
        guard let compressor = WireCompressor(rawValue: try reader.byte()) else {
            throw .malformed("an unknown compressor")
        }
        self.compressor = compressor
        guard opcode != header.opcode else { throw .opcode(opcode) }
        guard expandedCount >= 0, expandedCount <= limits.messageBytesMax - WireHeader.byteCount
        else { throw .malformed("a message that is too large when it is expanded") }
    }
}
