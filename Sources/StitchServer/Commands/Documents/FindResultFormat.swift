internal import BSONStore

/// The form of query results that `returnKey` and `showRecordId` ask for.
///
/// Source: MongoDB manual, "cursor.returnKey()" and "cursor.showRecordId()".
struct FindResultFormat {
    /// The options for reading the documents.
    let options: FindOptions
    /// The filter, order and projection of the query, with the collation of the collection.
    private let filter: Filter
    private let sort: SortOrder?
    private let projection: Projection?
    private let namespace: Namespace
    private let transaction: ReadTransaction
    private let showsRecord: Bool
    /// Whether the documents are replaced by their index keys.
    private let returnsKey: Bool
    /// The reader of the index keys; `nil` without `returnKey`, and without an index.
    private let keys: IndexKeyReader?

    /// Reads the arguments and finds the index of the plan.
    ///
    /// - Throws: the errors of planning the query.
    init(
        _ call: CommandCall, _ query: FindQuery, _ namespace: Namespace,
        _ transaction: ReadTransaction
    ) throws {
        let filter = try transaction.completed(query.filter, namespace)
        self.filter = filter
        sort =
            query.filter.collation == filter.collation
            ? query.options.sort : query.options.sort?.collated(filter.collation)
        projection = try query.options.projection?.bound(to: filter)
        self.namespace = namespace
        self.transaction = transaction
        returnsKey = call.flag("returnKey")
        // `returnKey` excludes the record id.
        showsRecord = call.flag("showRecordId") && !returnsKey
        options = showsRecord || returnsKey ? Self.whole(query.options) : query.options
        keys =
            returnsKey
            ? try transaction.indexKeyReader(
                transaction.planned(namespace, query.filter, options)) : nil
    }

    private static func whole(_ options: FindOptions) -> FindOptions {
        var options = options
        options.projection = nil
        return options
    }

    /// Returns a document in the requested form.
    ///
    /// - Throws: the errors of the projection and of the store.
    func shown(_ document: BSONDocument) throws -> BSONDocument {
        if returnsKey { return try keys?.key(of: document) ?? [:] }
        guard showsRecord else { return document }
        var shown =
            try projection?.apply(to: document, matching: filter, sortedBy: sort) ?? document
        if let id = document["_id"],
            let row = try transaction.row(of: id, in: namespace)
        {
            shown.append("$recordId", .int64(row))
        }
        return shown
    }
}
