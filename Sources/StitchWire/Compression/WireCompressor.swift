internal import BSONStore

/// The compression methods of messages.
///
/// Without the trait `Server` there is no zlib, since no library of the system is linked then.
/// Source: the drivers' specification "Wire Compression".
package enum WireCompressor: UInt8, Sendable, Hashable, CaseIterable {
    /// No compression.
    case none = 0
    /// Snappy.
    case snappy = 1
    #if Server
        /// zlib.
        case zlib = 2
    #endif

    /// The name of the method in a client's request.
    package var name: String {
        switch self {
        case .none: "noop"
        case .snappy: "snappy"
        #if Server
            case .zlib: "zlib"
        #endif
        }
    }

    /// The method of a name that a client or server uses; `nil` for an unsupported one.
    package init?(name: String) {
        guard let found = Self.allCases.first(where: { $0.name.hasSameBytes(as: name) }) else {
            return nil
        }
        self = found
    }

    /// Returns the supported ones among a client's names, in its order.
    package static func known(among names: [String]) -> [String] {
        names.filter { name in allCases.contains { $0.name == name && $0 != .none } }
    }

    func expand(_ bytes: UnsafeRawBufferPointer, count: Int) throws(WireError) -> [UInt8] {
        switch self {
        case .none:
            guard bytes.count == count else { throw .invalidCompression }
            return Array(bytes)
        case .snappy: return try Snappy.expand(bytes, count: count)
        #if Server
            case .zlib: return try Zlib.expand(bytes, count: count)
        #endif
        }
    }

    /// Returns the compressed bytes; `nil` when the method gets no memory.
    func compress(_ bytes: [UInt8]) -> [UInt8]? {
        switch self {
        case .none: bytes
        case .snappy: Snappy.compress(bytes)
        #if Server
            case .zlib: Zlib.compress(bytes)
        #endif
        }
    }
}

/// The fields between the header and the content of a compressed message.
package struct WireCompression: Sendable, Hashable {
    /// The size of these fields in bytes.
    static let byteCount = 9
    /// The smallest message to compress, in bytes.
    static let bytesMin = 256

    /// The kind of the compressed message.
    let opcode: Int32
    /// The size of the decompressed message in bytes, without its header.
    package let expandedCount: Int
    /// The compression method.
    let compressor: WireCompressor

    /// Reads the fields; `nil` for a message that is not compressed.
    ///
    /// - Throws: for an unknown method or an invalid size.
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
