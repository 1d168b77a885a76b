public import BSONStore

/// A hash of a remote document's content without its version field.
///
/// The engine compares it with the known content, which saves the download of the document.
///
/// ```swift
/// let hash = document.contentHash(excluding: DocumentVersion.fieldName)
/// let answer = RemoteVersionLookup.found(VersionField(of: document), content: .content(hash))
/// ```
public enum ContentFingerprint: Sendable, Hashable {
    /// The hash of `BSONStore/BSONDocument/contentHash(excluding:)`; the order of fields does not
    /// change it.
    case content(BSONContentHash)
    /// The hash of MongoDB's hashed indexes.
    ///
    /// It truncates numbers to integers and depends on the order of fields. So equal content may
    /// have different hashes, and a changed fraction may keep the hash.
    ///
    /// Source: MongoDB manual, "$toHashedIndexKey".
    case indexKey(Int64)

    /// Whether a document, which has no version field, has the fingerprint.
    func isOf(_ document: BSONDocument) -> Bool {
        switch self {
        case .content(let hash): document.contentHash() == hash
        case .indexKey(let hash): ExpressionHash.hash(.document(document)) == hash
        }
    }
}
