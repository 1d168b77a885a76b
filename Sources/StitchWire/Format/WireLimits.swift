/// Bounds what a message may ask for.
package struct WireLimits: Sendable, Hashable {
    /// The size of a message with its header, in bytes.
    package var messageBytesMax: Int
    /// The size of one document in bytes: 16 MiB and room for the command around it.
    package var documentBytesMax: Int
    /// Levels of documents and arrays, the command counted.
    package var depthMax: Int

    /// Takes MongoDB's bounds unless told otherwise.
    package init(
        messageBytesMax: Int = 48_000_000, documentBytesMax: Int = 16 * 1024 * 1024 + 16 * 1024,
        depthMax: Int = 200
    ) {
        self.messageBytesMax = messageBytesMax
        self.documentBytesMax = documentBytesMax
        self.depthMax = depthMax
    }
}
