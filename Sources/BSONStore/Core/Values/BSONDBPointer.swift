/// A pointer to a document of a collection; deprecated in BSON, kept for reading old data.
public struct BSONDBPointer: Sendable, Hashable {
    /// The namespace's text.
    public let namespace: String
    /// The document's id.
    public let id: BSONObjectID

    /// Creates a pointer to a document.
    public init(namespace: String, id: BSONObjectID) {
        self.namespace = namespace
        self.id = id
    }
}

extension BSONDBPointer {
    /// Whether the encoded bytes are equal.
    public static func == (left: Self, right: Self) -> Bool {
        left.namespace.utf8.elementsEqual(right.namespace.utf8) && left.id == right.id
    }

    /// Hashes the parts that ``==(_:_:)`` compares.
    public func hash(into hasher: inout Hasher) {
        namespace.withUTF8Bytes { hasher.combine(bytes: $0) }
        hasher.combine(id)
    }
}
