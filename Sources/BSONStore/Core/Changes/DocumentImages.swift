/// The versions of a document before and after a write; `nil` where the document does not exist.
public struct DocumentImages: Sendable, Hashable {
    /// The document before the write.
    public let before: BSONDocument?
    /// The document after the write.
    public let after: BSONDocument?

    /// Creates the pair from the two versions.
    public init(before: BSONDocument?, after: BSONDocument?) {
        self.before = before
        self.after = after
    }
}
