public import BSONCore

/// A choice of the fields that a query returns.
///
/// ```swift
/// let projection = Item.projection { $0.name.included; $0.id.excluded }
/// print(try projection.bson)  // {"name": 1, "_id": 0}
/// ```
public struct TypedProjection: Sendable {
    /// A field and the choice.
    struct Entry: Sendable {
        let path: TypedFieldPath
        let isIncluded: Bool
    }

    let entries: [Entry]

    init(_ projections: [TypedProjection]) { entries = projections.flatMap(\.entries) }

    fileprivate init(_ path: TypedFieldPath, isIncluded: Bool) {
        entries = [Entry(path: path, isIncluded: isIncluded)]
    }

    /// The choice as MongoDB's projection.
    ///
    /// - Throws: as ``bson(with:)`` does.
    public var bson: BSONDocument { get throws(StoreError) { try bson(with: BSONEncoder()) } }

    /// Returns the choice as MongoDB's projection, with names as an encoder writes them.
    ///
    /// - Throws: as ``Field/path(with:)`` does.
    public func bson(with encoder: BSONEncoder) throws(StoreError) -> BSONDocument {
        var document: BSONDocument = [:]
        for entry in entries {
            document.append(try entry.path.dotted(encoder), entry.isIncluded ? 1 : 0)
        }
        return document
    }
}

extension Field {
    /// The choice of this field; only chosen fields and `_id` are returned.
    public var included: TypedProjection { TypedProjection(path, isIncluded: true) }

    /// The omission of this field; all others are returned.
    public var excluded: TypedProjection { TypedProjection(path, isIncluded: false) }
}
