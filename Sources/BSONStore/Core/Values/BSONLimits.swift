/// Bounds on untrusted bytes.
public struct BSONLimits: Sendable, Hashable {
    /// The maximum depth of documents and arrays, counting the outermost; MongoDB accepts 100.
    public var depthMax: Int
    /// The maximum size of an encoded document in bytes; MongoDB accepts 16 MiB.
    public var documentBytesMax: Int

    /// Creates limits; the default is MongoDB's.
    public init(depthMax: Int = 100, documentBytesMax: Int = 16 * 1024 * 1024) {
        self.depthMax = depthMax
        self.documentBytesMax = documentBytesMax
    }
}
