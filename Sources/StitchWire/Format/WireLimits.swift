/// The limits of a message.
package struct WireLimits: Sendable, Hashable {
    /// The largest size of a message with its header, in bytes.
    package var messageBytesMax: Int
    /// The largest size of a document in bytes: 16 MiB and room for the command around it.
    package var documentBytesMax: Int
    /// The largest nesting of documents and arrays, including the command.
    package var depthMax: Int

    /// Makes limits; each omitted one is MongoDB's.
    package init(
        messageBytesMax: Int = 48_000_000, documentBytesMax: Int = 16 * 1024 * 1024 + 16 * 1024,
        depthMax: Int = 200
    ) {
        self.messageBytesMax = messageBytesMax
        self.documentBytesMax = documentBytesMax
        self.depthMax = depthMax
    }
}
