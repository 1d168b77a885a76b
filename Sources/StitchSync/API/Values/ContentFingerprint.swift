public import BSONStore

/// Tells whether a remote document's content, its version field apart, is what is known, without the
/// document.
public enum ContentFingerprint: Sendable, Hashable {
    /// The hash of `BSONStore/BSONDocument/contentHash(excluding:)`, the same in any order of fields.
    case content(BSONContentHash)
    /// The hash that MongoDB's hashed indexes keep.
    ///
    /// Numbers count cut off to whole ones and fields in their order, so that equal content may have
    /// another hash, and a change behind the decimal point the same.
    ///
    /// Source: MongoDB manual, "$toHashedIndexKey".
    case indexKey(Int64)

    /// Whether a document without its version field has the fingerprint.
    func isOf(_ document: BSONDocument) -> Bool {
        switch self {
        case .content(let hash): document.contentHash() == hash
        case .indexKey(let hash): document.hashedIndexKey == hash
        }
    }
}
