/// A reader of many dotted paths of one document.
///
/// It finds what ``BSONDocument/subscript(path:)`` finds, and reads each document on the way once.
package struct BSONPathReader {
    /// The value in which the last part of a path is looked up.
    private enum Container {
        case fields(IndexedDocument)
        case array
        case nothing
    }

    private let fields: IndexedDocument
    private var containers: [Name: Container] = [:]

    /// Begins to read a document.
    package init(_ document: BSONDocument) { fields = IndexedDocument(document) }

    /// Returns the value at a dotted path; `nil` if it is missing.
    package mutating func value(at path: String) -> BSONValue? {
        guard let dot = path.utf8.lastIndex(of: UInt8(ascii: ".")) else { return fields[path] }
        switch container(at: String(path[..<dot])) {
        case .fields(let fields): return fields[String(path[path.utf8.index(after: dot)...])]
        case .array: return fields.document[path: path]
        case .nothing: return nil
        }
    }

    private mutating func container(at path: String) -> Container {
        if let known = containers[path] { return known }
        let container: Container =
            switch value(at: path) {
            case .document(let document): .fields(IndexedDocument(document))
            case .array: .array
            default: .nothing
            }
        containers.updateValue(container, forKey: path)
        return container
    }
}
