internal import BSONStore

/// The conversion of an app's documents to BSON and back.
struct DocumentCoding<Document: Sendable>: Sendable {
    /// Encodes a new document.
    let encode: @Sendable (_ document: Document) throws -> BSONDocument
    /// Decodes a document.
    let decode: @Sendable (BSONDocument) throws -> Document
    /// Describes a stored document by the value that was decoded from it, before the app changes
    /// the value.
    let edition: @Sendable (_ document: Document, _ stored: BSONDocument) throws -> EncodedEdition
    /// Describes a stored document, which need not decode.
    let decodedEdition: @Sendable (_ stored: BSONDocument) -> EncodedEdition
    /// Writes what the value changed onto the first edition; without editions encodes it.
    let change:
        @Sendable (_ document: Document, _ editions: [EncodedEdition]) throws -> BSONDocument
}

extension DocumentCoding {
    /// Writes a document onto the first of some stored editions, of which it may be any.
    ///
    /// Fields that the type does not know, and values that equal those of an edition, keep their
    /// stored bytes.
    func write(_ document: Document, onto editions: [BSONDocument?]) throws -> BSONDocument {
        try change(document, editions.compactMap { $0.map(decodedEdition) })
    }
}

extension DocumentCoding<BSONDocument> {
    /// The conversion that changes nothing.
    static var raw: Self {
        Self(
            encode: { $0 }, decode: { $0 }, edition: { EncodedEdition($1) },
            decodedEdition: { EncodedEdition($0) }, change: { document, _ in document })
    }
}

extension DocumentCoding where Document: Codable {
    /// Returns the conversion by the type's `Codable` conformance.
    static func codable() -> Self {
        Self(
            encode: { try BSONEncoder().encode($0) },
            decode: { try BSONDecoder().decode(Document.self, from: $0) },
            edition: { try BSONEncoder().edition(of: $0, decodedFrom: $1) },
            decodedEdition: {
                BSONEncoder().edition(decoding: $0, as: Document.self, by: BSONDecoder())
            },
            change: { try BSONEncoder().encode($0, changing: $1) })
    }
}
