public import BSONCore

/// An order of documents by fields, or the fields of an index.
///
/// ```swift
/// let sort = Item.sort { $0.price.descending; $0.name.ascending }
/// print(try sort.bson)  // {"price": -1, "name": 1}
/// ```
public struct TypedSort: Sendable {
    /// A field and its direction.
    struct Key: Sendable {
        let path: TypedFieldPath
        let isDescending: Bool
    }

    let keys: [Key]

    init(_ sorts: [TypedSort]) { keys = sorts.flatMap(\.keys) }

    fileprivate init(_ path: TypedFieldPath, isDescending: Bool) {
        keys = [Key(path: path, isDescending: isDescending)]
    }

    /// The order as MongoDB's sort document.
    ///
    /// - Throws: as ``bson(with:)`` does.
    public var bson: BSONDocument { get throws(StoreError) { try bson(with: BSONEncoder()) } }

    /// Returns the order as queries use it; `nil` without fields.
    ///
    /// - Throws: as ``bson(with:)`` does, and for an order that MongoDB refuses.
    package func order(with encoder: BSONEncoder) throws(StoreError) -> SortOrder? {
        keys.isEmpty ? nil : try SortOrder(try bson(with: encoder))
    }

    /// Returns the order as MongoDB's sort document, with names as an encoder writes them.
    ///
    /// - Throws: as ``Field/path(with:)`` does.
    public func bson(with encoder: BSONEncoder) throws(StoreError) -> BSONDocument {
        var document: BSONDocument = [:]
        for key in keys {
            document.append(try key.path.dotted(encoder), key.isDescending ? -1 : 1)
        }
        return document
    }
}

extension Field {
    /// The order from the least value to the greatest; a missing field sorts as null.
    public var ascending: TypedSort { TypedSort(path, isDescending: false) }

    /// The order from the greatest value to the least.
    public var descending: TypedSort { TypedSort(path, isDescending: true) }
}
