/// The stored places of the documents that a plan reads.
///
/// Source: MongoDB manual, "$meta"; the server's `jstests/core/query/project`.
struct StoredPlacement: DocumentPlacement {
    private let namespace: Namespace
    private let requested: RequestedMetadata
    private let rows: RowLookup
    /// The fields of the index that the plan reads; `nil` without an index.
    private let fields: [String]?

    init(
        _ namespace: Namespace, _ requested: RequestedMetadata, _ plan: QueryPlan,
        _ filter: Filter, isClustered: Bool, rows: RowLookup
    ) {
        self.namespace = namespace
        self.requested = requested
        self.rows = rows
        fields = requested.contains(.indexKey) ? Self.fields(plan, filter, isClustered) : nil
    }

    private static func fields(
        _ plan: QueryPlan, _ filter: Filter, _ isClustered: Bool
    ) -> [String]? {
        switch plan.rows {
        // As in MongoDB, a lookup of one `_id` reads no index.
        case .keys: isClustered || filter.isDeterminedByID ? nil : ["_id"]
        case .range(let range): range.isByKey && !isClustered ? ["_id"] : nil
        case .index(let scan):
            scan.index.definition.isOrdered && scan.wildcardPath == nil
                ? scan.index.definition.keyPattern.keys : nil
        case .union, .members: nil
        }
    }

    func metadata(of document: BSONDocument) throws(StoreError) -> [String: BSONValue] {
        var metadata: [String: BSONValue] = [:]
        if requested.contains(.recordID), let id = document["_id"],
            let row = try rows.row(of: id, in: namespace)
        {
            metadata["recordId"] = .int64(row)
        }
        if let fields {
            var key = BSONDocument()
            for path in fields { key.append(path, document[path: path] ?? .null) }
            metadata["indexKey"] = .document(key)
        }
        return metadata
    }
}
