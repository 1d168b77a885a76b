/// Holds a document before and after a write; `nil` where there was or is none.
public struct DocumentImages: Sendable, Hashable {
    /// The document before the write.
    public let before: BSONDocument?
    /// The document after the write.
    public let after: BSONDocument?

    /// Takes the two documents.
    public init(before: BSONDocument?, after: BSONDocument?) {
        self.before = before
        self.after = after
    }
}
