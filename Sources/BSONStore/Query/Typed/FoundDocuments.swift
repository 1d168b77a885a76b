package import BSONCore

/// The documents that a query found, as values of an app's type.
///
/// It is a collection of the documents that decode. The others are in ``failures``, so that one
/// document that another edition of the app wrote does not hide the rest:
///
/// ```swift
/// let todos = try collection.find { !$0.done }.fetch()
/// show(todos.map(\.task))
/// if !todos.failures.isEmpty { report(todos.failures) }
///
/// let all: [Todo] = try collection.find { !$0.done }.fetch().strict  // throws the first failure
/// ```
public struct FoundDocuments<Document: Sendable>: Sendable {
    /// The documents that decoded, in the query's order.
    public let documents: [Document]
    /// The documents that did not decode, in the query's order.
    public let failures: [DocumentDecodingFailure]

    /// Creates a result, for tests.
    public init(_ documents: [Document], failures: [DocumentDecodingFailure] = []) {
        self.documents = documents
        self.failures = failures
    }

    /// Decodes the documents of a query.
    package init(
        decoding found: [BSONDocument], by decode: (BSONDocument) throws -> Document
    ) {
        var documents: [Document] = []
        var failures: [DocumentDecodingFailure] = []
        documents.reserveCapacity(found.count)
        for document in found {
            do {
                documents.append(try decode(document))
            } catch {
                failures.append(
                    DocumentDecodingFailure(error, decoding: document, as: Document.self))
            }
        }
        self.init(documents, failures: failures)
    }

    /// All documents found, each of which decoded.
    ///
    /// - Throws: the first failure.
    public var strict: [Document] {
        get throws(DocumentDecodingFailure) {
            if let first = failures.first { throw first }
            return documents
        }
    }
}

extension FoundDocuments: RandomAccessCollection {
    /// The position of the first document.
    public var startIndex: Int { documents.startIndex }
    /// The position after the last document.
    public var endIndex: Int { documents.endIndex }
    /// The document at a position.
    public subscript(position: Int) -> Document { documents[position] }
}

extension FoundDocuments where Document: Equatable {
    /// Whether all documents decoded and equal those of an array.
    public static func == (found: Self, expected: [Document]) -> Bool {
        found.failures.isEmpty && found.documents == expected
    }
}
