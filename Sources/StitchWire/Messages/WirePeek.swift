internal import BSONStore

/// The facts that the first bytes of a message show, without parsing it.
package struct WirePeek: Sendable, Hashable {
    /// The command in a message.
    package enum Content: Sendable, Hashable {
        /// A small message with this command.
        case command(String)
        /// A small message that shows its command once it is parsed.
        case small
        /// A message that takes a while to parse.
        case large
    }

    /// The size limit in bytes of a small message, after decompression.
    package static let smallBytesMax = 64 * 1024
    /// The size limit in bytes of a command's name.
    private static let nameBytesMax = 64

    /// The number of the request.
    package let requestID: Int32
    /// Whether its client waits for a reply; `nil` if that is not visible.
    package let wantsReply: Bool?
    /// The command.
    package let content: Content

    /// Looks at a complete message; one that is not valid is refused only when it is parsed.
    package init(_ message: UnsafeRawBufferPointer, _ limits: WireLimits) {
        let header = WireHeader(message)
        requestID = header?.requestID ?? 0
        var (size, name, wants) = (message.count, String?.none, Bool?.none)
        do throws(WireError) {
            switch header.flatMap({ WireOpcode(rawValue: $0.opcode) }) {
            case .message:
                var reader = WireReader(message, from: WireHeader.byteCount)
                wants = !WireFlags(rawValue: try reader.uint32()).contains(.moreToCome)
                if size <= Self.smallBytesMax { name = try Self.name(&reader) }
            case .compressed:
                size = max(size, try WireCompression(message, limits)?.expandedCount ?? 0)
            case .query, .reply, nil: wants = true
            }
        } catch {
            name = nil
        }
        wantsReply = wants
        content = size > Self.smallBytesMax ? .large : name.map { .command($0) } ?? .small
    }

    /// Returns the name of a body's first field; `nil` if no body is here, or if the command depends
    /// on more than its name.
    private static func name(_ reader: inout WireReader) throws(WireError) -> String? {
        guard try reader.byte() == 0 else { return nil }
        _ = try reader.uint32()
        let type = try reader.byte()
        let name = try reader.cString()
        // An aggregation without a collection may be an operator's `$currentOp`.
        guard name != "aggregate" || type == 2 else { return nil }
        return name.utf8.count > nameBytesMax ? nil : name
    }
}
