/// The index keys by which a plan finds documents, as `returnKey` and `$meta: "indexKey"` show them.
///
/// Source: MongoDB manual, "cursor.returnKey()"; the server's `jstests/core/query/project`.
package struct IndexKeyReader {
    private enum Keys {
        case id
        case ofScan(IndexScan)
    }

    private let keys: Keys

    /// Creates a reader for a plan; `nil` if the plan reads no index, or several.
    init?(_ plan: QueryPlan, isClustered: Bool) {
        switch plan.rows {
        case .keys where !isClustered: keys = .id
        case .range(let range) where range.isByKey && !isClustered: keys = .id
        case .index(let scan):
            guard scan.index.definition.isOrdered || scan.wildcardPath != nil else { return nil }
            keys = .ofScan(scan)
        case .keys, .range, .union, .members: return nil
        }
    }

    /// Returns the key by which the plan finds a document: of several, the first within the bounds.
    ///
    /// - Throws: as ``IndexKeyGenerator/keys(of:)`` does.
    package func key(of document: BSONDocument) throws(StoreError) -> BSONDocument {
        switch keys {
        case .id: return ["_id": document["_id"] ?? .null]
        case .ofScan(let scan):
            let names =
                scan.wildcardPath.map { ["$_path", $0] } ?? scan.index.definition.keyPattern.keys
            let entries = try scan.index.entries(of: document).sorted {
                $0.key.lexicographicallyPrecedes($1.key) != scan.isReversed
            }
            let found = entries.first { entry in
                scan.ranges.contains { range in
                    !entry.key.lexicographicallyPrecedes(range.lower)
                        && entry.key.lexicographicallyPrecedes(range.upper)
                }
            }
            guard let values = (found ?? entries.first)?.values else { return [:] }
            return BSONDocument(zip(names, values).map { ($0, $1) })
        }
    }
}
