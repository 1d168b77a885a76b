/// The stored places of the documents that a plan reads.
///
/// Source: MongoDB manual, "$meta"; the server's `jstests/core/query/project`.
struct StoredPlacement: DocumentPlacement {
    private let namespace: Namespace
    private let requested: RequestedMetadata
    private let rows: RowLookup
    /// The reader of the index keys; `nil` without an index, and unless they are requested.
    private let keys: IndexKeyReader?

    init(
        _ namespace: Namespace, _ requested: RequestedMetadata, _ plan: QueryPlan,
        _ filter: Filter, isClustered: Bool, rows: RowLookup
    ) {
        self.namespace = namespace
        self.requested = requested
        self.rows = rows
        // As in MongoDB, a lookup of one `_id` reads no index.
        let isLookup = filter.isDeterminedByID
        keys =
            requested.contains(.indexKey) && !isLookup
            ? IndexKeyReader(plan, isClustered: isClustered) : nil
    }

    func metadata(of document: BSONDocument) throws(StoreError) -> [String: BSONValue] {
        var metadata: [String: BSONValue] = [:]
        if requested.contains(.recordID), let id = document["_id"],
            let row = try rows.row(of: id, in: namespace)
        {
            metadata["recordId"] = .int64(row)
        }
        if let key = try keys?.key(of: document) { metadata["indexKey"] = .document(key) }
        return metadata
    }
}
