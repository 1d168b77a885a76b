public import BSONStore

/// A part of the documents that match a filter, by their ids and versions.
///
/// ```swift
/// let page = try await collection.versions(matching: ["done": false], after: nil, limit: 100)
/// for entry in page.entries { print(entry.documentID, entry.version) }
/// ```
public struct RemoteVersionPage: Sendable, Hashable {
    /// One document.
    public struct Entry: Sendable, Hashable {
        /// The document's `_id`.
        public let documentID: BSONValue
        /// The document's version field.
        public let version: VersionField
        /// The document's fingerprint, where the remote reports one.
        public let content: ContentFingerprint?

        /// Makes an entry from its parts.
        public init(
            documentID: BSONValue, version: VersionField, content: ContentFingerprint? = nil
        ) {
            self.documentID = documentID
            self.version = version
            self.content = content
        }
    }

    /// The documents, sorted by `_id`.
    public let entries: [Entry]
    /// Whether this is the last page.
    public let isLast: Bool

    /// Makes a page from its parts.
    public init(entries: [Entry], isLast: Bool) {
        self.entries = entries
        self.isLast = isLast
    }

    /// Makes a page of the documents that were read.
    ///
    /// The page has the fingerprints of their contents.
    package init(of page: RemotePage) {
        self.init(
            entries: page.documents.map { document in
                Entry(
                    documentID: document.documentID, version: VersionField(of: document),
                    content: .content(
                        document.contentHash(excluding: DocumentVersion.fieldName)))
            }, isLast: page.isLast)
    }
}
