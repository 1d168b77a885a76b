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
    /// The fields of the used index; `nil` without `returnKey`, empty without an index.
    private let key: [String]?

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
        // `returnKey` excludes the record id.
        showsRecord = call.flag("showRecordId") && !call.flag("returnKey")
        guard call.flag("returnKey") else {
            key = nil
            options = showsRecord ? Self.whole(query.options) : query.options
            return
        }
        let explained = try transaction.explain(
            namespace, filter: query.filter, options: query.options)
        let plan = explained["queryPlanner"]?.documentValue?["winningPlan"]?.documentValue
        key = plan.map(Self.key) ?? []
        options = Self.whole(query.options)
    }

    private static func whole(_ options: FindOptions) -> FindOptions {
        var options = options
        options.projection = nil
        return options
    }

    private static func key(_ plan: BSONDocument) -> [String] {
        if plan["stage"] == "IDHACK" { return ["_id"] }
        if let pattern = plan["keyPattern"]?.documentValue { return pattern.keys }
        return plan["inputStage"]?.documentValue.map(key) ?? []
    }

    /// Returns a document in the requested form.
    ///
    /// - Throws: the errors of the projection and of the store.
    func shown(_ document: BSONDocument) throws -> BSONDocument {
        guard showsRecord || key != nil else { return document }
        var shown: BSONDocument
        if let key {
            shown = BSONDocument()
            for (place, path) in key.enumerated() {
                // The key of a wildcard index begins with the path of its value.
                let value =
                    path == "$_path" && place + 1 < key.count
                    ? .string(key[place + 1]) : document[path: path]
                shown.append(path, value ?? .null)
            }
        } else {
            shown =
                try projection?.apply(to: document, matching: filter, sortedBy: sort) ?? document
        }
        if showsRecord, let id = document["_id"],
            let row = try transaction.row(of: id, in: namespace)
        {
            shown.append("$recordId", .int64(row))
        }
        return shown
    }
}
