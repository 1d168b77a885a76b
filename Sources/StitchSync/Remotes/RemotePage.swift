public import BSONStore

/// A part of the documents that match a filter.
///
/// ```swift
/// let page = try await collection.find(matching: ["done": false], after: nil, limit: 100)
/// print(page.documents.count, page.isLast)
/// ```
public struct RemotePage: Sendable, Hashable {
    /// The documents, with their version fields.
    public let documents: [BSONDocument]
    /// Whether this is the last page.
    public let isLast: Bool

    /// Makes a page from its parts.
    public init(documents: [BSONDocument], isLast: Bool) {
        self.documents = documents
        self.isLast = isLast
    }
}
