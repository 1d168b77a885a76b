internal import BSONStore

/// Turns an app's documents into BSON and back.
struct DocumentCoding<Document: Sendable>: Sendable {
    /// Encodes a document; fields of the original that the type does not know are kept.
    let encode: @Sendable (_ document: Document, _ original: BSONDocument?) throws -> BSONDocument
    /// Reads a document.
    let decode: @Sendable (BSONDocument) throws -> Document
}

extension DocumentCoding<BSONDocument> {
    /// Takes BSON as it is.
    static var raw: Self { Self(encode: { document, _ in document }, decode: { $0 }) }
}

extension DocumentCoding where Document: Codable {
    /// Uses the type's `Codable` conformance.
    static func codable() -> Self {
        Self(
            encode: { document, original in
                guard let original else { return try BSONEncoder().encode(document) }
                return try BSONEncoder().encode(document, onto: original)
            },
            decode: { try BSONDecoder().decode(Document.self, from: $0) })
    }
}
