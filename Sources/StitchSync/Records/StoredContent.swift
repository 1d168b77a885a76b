internal import BSONStore

/// Content that is often the local document's, and is kept apart only while it differs.
enum StoredContent: Hashable {
    /// No document.
    case absent
    /// The same content as the local document.
    case sameAsLocal
    /// This content.
    case stored(BSONDocument)

    /// The content, given the local document.
    func document(local: BSONDocument?) -> BSONDocument? {
        switch self {
        case .absent: nil
        case .sameAsLocal: local
        case .stored(let document): document
        }
    }

    /// Names content in the shortest way, given the local document.
    init(_ document: BSONDocument?, local: BSONDocument?) {
        switch (document, local) {
        case (nil, _): self = .absent
        case (let document?, let local?) where document.contentEquals(local): self = .sameAsLocal
        case (let document?, _): self = .stored(document)
        }
    }
}
