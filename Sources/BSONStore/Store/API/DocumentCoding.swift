package import BSONCore
internal import BSONQuery

/// An encoder and the decoder of what it writes, shared by the queries of a collection.
package final class BSONCoders: Sendable {
    /// The encoder, which also names the fields of typed filters and updates.
    let encoder: BSONEncoder
    let decoder: BSONDecoder

    init(_ encoder: BSONEncoder, _ decoder: BSONDecoder) {
        self.encoder = encoder
        self.decoder = decoder
    }
}

/// The conversion of an app's documents to BSON and back.
package final class DocumentCoding<Document: Sendable>: Sendable {
    let coders: BSONCoders
    /// Encodes a new document.
    package let encode: @Sendable (_ document: Document) throws -> BSONDocument
    /// Decodes a document.
    package let decode: @Sendable (BSONDocument) throws -> Document
    /// Describes a stored document by the value that was decoded from it, before the app changes
    /// the value.
    package let edition:
        @Sendable (_ document: Document, _ stored: BSONDocument) throws -> EncodedEdition
    /// Describes a stored document, which need not decode.
    package let decodedEdition: @Sendable (_ stored: BSONDocument) -> EncodedEdition
    /// Writes what the value changed onto the first edition; without editions encodes it.
    package let change:
        @Sendable (_ document: Document, _ editions: [EncodedEdition]) throws -> BSONDocument
    /// Whether the documents are BSON, so that a replacement is stored as it is.
    package let isRaw: Bool

    /// Returns the conversion by the type's `Codable` conformance.
    package init(
        _ encoder: BSONEncoder = BSONEncoder(), _ decoder: BSONDecoder = BSONDecoder()
    ) where Document: Codable {
        coders = BSONCoders(encoder, decoder)
        isRaw = false
        encode = { try encoder.encode($0) }
        decode = { try decoder.decode(Document.self, from: $0) }
        edition = { try encoder.edition(of: $0, decodedFrom: $1) }
        decodedEdition = { encoder.edition(decoding: $0, as: Document.self, by: decoder) }
        change = { try encoder.encode($0, changing: $1) }
    }

    fileprivate init(raw: Void) where Document == BSONDocument {
        coders = BSONCoders(BSONEncoder(), BSONDecoder())
        isRaw = true
        encode = { $0 }
        decode = { $0 }
        edition = { EncodedEdition($1) }
        decodedEdition = { EncodedEdition($0) }
        change = { document, _ in document }
    }
}

private let rawCoding = DocumentCoding<BSONDocument>(raw: ())

extension DocumentCoding<BSONDocument> {
    /// The conversion that changes nothing.
    package static var raw: DocumentCoding<BSONDocument> { rawCoding }
}

extension DocumentCoding {
    /// The encoder, which also names the fields of typed filters and updates.
    package var encoder: BSONEncoder { coders.encoder }

    /// The decoder of documents and values.
    package var decoder: BSONDecoder { coders.decoder }

    /// Decodes a stored document.
    ///
    /// - Throws: a failure that names the document and the field.
    package func decoded(
        _ document: BSONDocument
    ) throws(DocumentDecodingFailure) -> Document {
        try DocumentDecodingFailure.check(document, by: decode)
    }

    /// Writes a document onto the first of some stored editions, of which it may be any.
    ///
    /// Fields that the type does not know, and values that equal those of an edition, keep their
    /// stored bytes.
    package func write(
        _ document: Document, onto editions: [BSONDocument?]
    ) throws -> BSONDocument {
        try change(document, editions.compactMap { $0.map(decodedEdition) })
    }
}
