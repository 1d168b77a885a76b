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
        change = { try encoder.encode($0, changing: $1, decodedBy: decoder) }
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

    /// Writes what an edit changed onto a stored document.
    ///
    /// - Parameters:
    ///   - edited: the value that the edit ended with.
    ///   - original: the value that it began with, read from this or an earlier edition; `nil` for
    ///     the stored one.
    /// - Throws: a failure if there is an original and the stored document does not decode.
    package func write(
        _ edited: Document, from original: Document?, onto stored: BSONDocument
    ) throws -> BSONDocument {
        guard let original else { return try write(edited, onto: [stored]) }
        let current = try decoded(stored)
        let before = try encode(original)
        // Equal sets and dictionaries may be encoded in another order: what is equal keeps its bytes.
        let after = try change(edited, [edition(original, before)])
        if let id = after["_id"], let own = stored["_id"], BSONOrder.compare(id, own) != .equal {
            // The write of another document is refused as any other.
            return try write(edited, onto: [stored])
        }
        let now = try encode(current)
        let written: Document
        do {
            written = try decode(now.changed(from: before, to: after))
        } catch {
            // Both changed parts that only together are a value, such as the case of an enum.
            written = try decoded(now.changed(from: before, to: after, deeply: false))
        }
        return try change(written, [edition(current, stored)])
    }

    /// Returns the update that replaces a stored document by an app's value.
    ///
    /// BSON without an original replaces it as it is. Of other values only what the edit changed is
    /// written onto the stored document.
    ///
    /// - Parameters:
    ///   - original: the value that the edit began with; `nil` for the stored one.
    ///   - finish: changes the document to write.
    /// - Throws: `badValue` (2) for operators, `DocumentDecodingFailure` if there is an original and
    ///   the stored document does not decode.
    package func replacing(
        _ stored: BSONDocument?, by document: Document, from original: Document? = nil,
        _ finish: (BSONDocument) -> BSONDocument = { $0 }
    ) throws -> Update {
        guard let stored, !isRaw || original != nil else {
            return try Update(replacement: finish(encode(document)))
        }
        return try Update(storing: finish(write(document, from: original, onto: stored)))
    }
}

extension BSONDocument {
    /// Returns the document with the fields that differ between two others.
    ///
    /// - Parameter deeply: whether fields of nested documents count by themselves.
    package func changed(
        from before: BSONDocument, to after: BSONDocument, deeply: Bool = true
    ) -> BSONDocument {
        let (old, new) = (IndexedDocument(before), IndexedDocument(after))
        var result = BSONDocument()
        for (key, value) in self {
            if let value = value.changed(from: old[key], to: new[key], deeply) {
                result.append(key, value)
            }
        }
        let own = IndexedDocument(self)
        for (key, value) in after where own[key] == nil {
            if old[key]?.contentEquals(value) != true { result.append(key, value) }
        }
        return result
    }
}

extension BSONValue {
    fileprivate func changed(
        from before: BSONValue?, to after: BSONValue?, _ deeply: Bool
    ) -> BSONValue? {
        switch (self, before, after) {
        case (_, nil, nil): self
        case (_, let before?, let after?) where before.contentEquals(after): self
        case (.document(let own), .document(let before), .document(let after)) where deeply:
            .document(own.changed(from: before, to: after))
        default: after
        }
    }
}
