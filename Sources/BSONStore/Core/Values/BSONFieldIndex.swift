/// A look-up of a document's fields whose cost does not grow with their number.
///
/// Of fields with one name it has the first, as ``BSONDocument/subscript(_:)`` has.
package struct BSONFieldIndex: Sendable {
    /// The number of fields up to which a scan is faster than a table.
    private static let scannedMax = 12

    /// The document.
    package let document: BSONDocument
    private let values: [Name: BSONValue]?

    /// Reads the fields of a document once.
    package init(_ document: BSONDocument) {
        self.document = document
        let count = document.count
        guard count > Self.scannedMax else {
            values = nil
            return
        }
        var values = [Name: BSONValue](minimumCapacity: count)
        for (key, value) in document where values[key] == nil { values[key] = value }
        self.values = values
    }

    /// The value of a field; `nil` if the document has no such field.
    package subscript(key: String) -> BSONValue? {
        if let values { values[key] } else { document[key] }
    }
}

/// A reader of many dotted paths of one document.
///
/// It finds what ``BSONDocument/subscript(path:)`` finds, and reads each document on the way once.
package struct BSONPathReader {
    /// The value in which the last part of a path is looked up.
    private enum Container {
        case fields(BSONFieldIndex)
        case array
        case nothing
    }

    private let fields: BSONFieldIndex
    private var containers: [Name: Container] = [:]

    /// Begins to read a document.
    package init(_ document: BSONDocument) { fields = BSONFieldIndex(document) }

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
            case .document(let document): .fields(BSONFieldIndex(document))
            case .array: .array
            default: .nothing
            }
        containers.updateValue(container, forKey: path)
        return container
    }
}
