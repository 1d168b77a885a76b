/// A buffer that writes many lines in few system calls.
struct BufferedLines {
    private let descriptor: Descriptor
    private var bytes: [UInt8] = []

    private static let bytesMax = 64 * 1024

    init(to descriptor: Descriptor) { self.descriptor = descriptor }

    /// Adds a line; its bytes need no line end.
    mutating func append(_ line: [UInt8]) throws(CommandError) {
        bytes += line
        try append(raw: [UInt8(ascii: "\n")])
    }

    /// Adds bytes as they are.
    mutating func append(raw more: [UInt8]) throws(CommandError) {
        bytes += more
        if bytes.count >= Self.bytesMax { try flush() }
    }

    /// Writes the rest of the buffer; must be called at the end.
    mutating func flush() throws(CommandError) {
        try descriptor.write(bytes)
        bytes.removeAll(keepingCapacity: true)
    }
}
