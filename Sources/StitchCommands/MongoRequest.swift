package import BSONStore

/// A command, whose long list of documents may travel beside its body.
///
/// The body is changed and copied on its way, the list is not.
///
/// Source: MongoDB manual, "MongoDB Wire Protocol", document sequences of OP_MSG.
package struct MongoRequest: Sendable, Hashable {
    /// The documents of a field.
    package struct List: Sendable, Hashable {
        /// The field's name.
        package let field: String
        /// The documents.
        package let documents: [BSONDocument]

        /// Makes a list.
        package init(field: String, documents: [BSONDocument]) {
            self.field = field
            self.documents = documents
        }
    }

    /// The command's other fields.
    package var body: BSONDocument
    /// The list; `nil` where the body has all fields.
    package let list: List?

    /// Makes a request.
    package init(_ body: BSONDocument, list: List? = nil) {
        self.body = body
        self.list = list
    }

    /// The size of the body and of the list in bytes.
    package var byteCount: Int {
        (list?.documents ?? []).reduce(body.byteCount) { $0 + $1.byteCount }
    }

    /// The command as one document, for carriers that take no list.
    package var document: BSONDocument {
        guard let list else { return body }
        var document = body
        document.append(list.field, .array(BSONArray(list.documents.map { .document($0) })))
        return document
    }

    /// Returns the documents of a field, wherever they are.
    package func documents(_ field: String) -> [BSONDocument] {
        if let list, list.field.hasSameBytes(as: field) { return list.documents }
        return body[field]?.arrayValue?.compactMap(\.documentValue) ?? []
    }
}

extension MongoServer {
    /// Sends a command without a list.
    package func run(
        _ command: BSONDocument, on database: String, _ kind: MongoCommandKind
    ) async throws(MongoFailure) -> BSONDocument {
        try await run(MongoRequest(command), on: database, kind)
    }
}
