internal import BSONStore

/// Content that is stored only while it differs from the local document.
enum StoredContent: Hashable {
    /// No document.
    case absent
    /// The same content as the local document.
    case sameAsLocal
    /// This content.
    case stored(BSONDocument)

    /// Returns the content for a local document.
    func document(local: BSONDocument?) -> BSONDocument? {
        switch self {
        case .absent: nil
        case .sameAsLocal: local
        case .stored(let document): document
        }
    }

    /// Chooses the shortest form of content for a local document.
    init(_ document: BSONDocument?, local: BSONDocument?) {
        switch (document, local) {
        case (nil, _): self = .absent
        case (let document?, let local?) where document.contentEquals(local): self = .sameAsLocal
        case (let document?, _): self = .stored(document)
        }
    }
}
