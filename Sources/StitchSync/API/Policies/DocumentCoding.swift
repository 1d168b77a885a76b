internal import BSONStore

/// The conversion of an app's documents to BSON and back.
struct DocumentCoding<Document: Sendable>: Sendable {
    /// Encodes a document; fields of the original that the type does not know are kept.
    let encode: @Sendable (_ document: Document, _ original: BSONDocument?) throws -> BSONDocument
    /// Decodes a document.
    let decode: @Sendable (BSONDocument) throws -> Document
}

extension DocumentCoding<BSONDocument> {
    /// The conversion that changes nothing.
    static var raw: Self { Self(encode: { document, _ in document }, decode: { $0 }) }
}

extension DocumentCoding where Document: Codable {
    /// Returns the conversion by the type's `Codable` conformance.
    static func codable() -> Self {
        Self(
            encode: { document, original in
                guard let original else { return try BSONEncoder().encode(document) }
                return try BSONEncoder().encode(document, onto: original)
            },
            decode: { try BSONDecoder().decode(Document.self, from: $0) })
    }
}
