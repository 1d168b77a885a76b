/// Bounds what foreign bytes may ask for.
public struct BSONLimits: Sendable, Hashable {
    /// Levels of documents and arrays, the outermost counted; MongoDB accepts 100.
    public var depthMax: Int
    /// The size of an encoded document in bytes; MongoDB accepts 16 MiB.
    public var documentBytesMax: Int

    /// Takes MongoDB's bounds unless told otherwise.
    public init(depthMax: Int = 100, documentBytesMax: Int = 16 * 1024 * 1024) {
        self.depthMax = depthMax
        self.documentBytesMax = documentBytesMax
    }
}
