/// A stored document, and what a value's type makes of it.
///
/// A write compares the encoding of the new value with the encoding of the old one, and changes the
/// stored document only where these differ (rule R15, Docs/SCHEMA.md).
package struct EncodedEdition: Sendable {
    /// The document as it is stored.
    package let stored: BSONDocument
    /// The encoding of the value that was decoded from it, with marks; `nil` where it does not
    /// decode.
    let encoded: BSONDocument?

    /// Creates the edition of a document that the app's type does not see.
    package init(_ stored: BSONDocument) { self.init(stored, encoded: nil) }

    init(_ stored: BSONDocument, encoded: BSONDocument?) {
        self.stored = stored
        self.encoded = encoded
    }
}

extension BSONEncoder {
    /// Describes a document by the value that was decoded from it, before the app changes the
    /// value.
    ///
    /// - Throws: As ``encode(_:)``.
    package func edition<T: Encodable>(
        of value: T, decodedFrom stored: BSONDocument
    ) throws -> EncodedEdition {
        EncodedEdition(stored, encoded: try encodeDocument(value, isMarked: true))
    }

    /// Describes a document by decoding it as a type; one that does not decode has no encoding.
    package func edition<T: Codable>(
        decoding stored: BSONDocument, as type: T.Type, by decoder: BSONDecoder
    ) -> EncodedEdition {
        // A document of another form is an expected case: the value then replaces what it knows.
        do {
            return try edition(of: decoder.decode(type, from: stored), decodedFrom: stored)
        } catch {
            return EncodedEdition(stored)
        }
    }

    /// Writes the changes of a value onto the document that it came from.
    ///
    /// Where the value equals an edition, that edition's bytes are used, with the fields that the
    /// type does not know.
    ///
    /// - Parameter editions: the document to write onto, then other editions of it, best first.
    /// - Throws: As ``encode(_:)``.
    package func encode<T: Codable>(
        _ value: T, changing editions: [EncodedEdition], decodedBy decoder: BSONDecoder
    ) throws -> BSONDocument {
        try encode(value, changing: editions) { edition(decoding: $0, as: T.self, by: decoder) }
    }

    /// - Parameter read: describes a document as the type decodes it.
    func encode<T: Encodable>(
        _ value: T, changing editions: [EncodedEdition],
        reading read: @escaping (BSONDocument) -> EncodedEdition
    ) throws -> BSONDocument {
        guard let first = editions.first else { return try encode(value) }
        let encoded = try encodeDocument(value, isMarked: true)
        if encoded == first.encoded { return first.stored }
        let after = MarkedValue(encoded)
        let places = editions.map { edition in
            EncodedChange.Place(
                before: edition.encoded.map { MarkedValue($0) }, stored: .document(edition.stored),
                reading: EncodedChange.Reading { value in
                    guard case .document(let document) = value else { return nil }
                    return read(document).encoded.map { MarkedValue($0) }
                })
        }
        func changed(_ assumptions: inout EncodedChange.Assumptions) -> BSONDocument {
            EncodedChange.apply(after, to: places, &assumptions)?.documentValue ?? first.stored
        }
        var assumptions = EncodedChange.Assumptions(.all)
        let written = changed(&assumptions)
        guard !assumptions.used.isEmpty else { return written }
        func isRead(_ document: BSONDocument) -> Bool {
            read(document).encoded.map { MarkedValue($0).isSame(as: after) } ?? false
        }
        if isRead(written) { return written }
        for kinds in assumptions.used.properSubsets {
            var fewer = EncodedChange.Assumptions(kinds)
            let written = changed(&fewer)
            if isRead(written) { return written }
        }
        // The type does not read what it writes, so that no decoding confirms anything.
        var rest = EncodedChange.Assumptions(.completing)
        return changed(&rest)
    }
}

extension MarkedValue {
    /// Parses an outermost encoding with marks.
    fileprivate init(_ encoded: BSONDocument) {
        self = encoded.withUnsafeBytes { bytes in
            MarkedValue(
                BSONRawValue(
                    typeByte: BSONType.document.rawValue, start: BSONCursor.base(bytes),
                    count: bytes.count))
        }
    }
}
