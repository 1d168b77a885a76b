internal import BSONStore

/// What a transaction knows of a document by its own reads.
enum KnownDocument {
    /// The transaction has not read the document.
    case unread
    /// The transaction looked for the document, and none exists.
    case absent
    /// The transaction has read this document.
    case found(StoredDocument)

    /// Creates the result of a read, which found the document or `nil`.
    init(read document: StoredDocument?) {
        self = document.map { .found($0) } ?? .absent
    }

    /// Returns the document, which is read now unless the transaction knows it; `nil` where none exists.
    func document(
        orRead read: () throws -> StoredDocument?
    ) rethrows -> StoredDocument? {
        switch self {
        case .unread: try read()
        case .absent: nil
        case .found(let document): document
        }
    }
}
