extension ReadTransaction {
    /// Returns the documents that match a filter.
    ///
    /// - Throws: `corrupt` naming a document whose bytes are not valid BSON, 292 when a sort needs
    ///   more than 100 MiB, and SQLite's errors.
    public func find(
        _ namespace: Namespace, filter: Filter, options: FindOptions = .all
    ) throws(StoreError) -> [BSONDocument] {
        try executor.find(namespace, filter: filter, options: options, bytesMax: .max)
    }

    /// Finds documents as ``find(_:filter:options:)-(_,Filter,_)`` does until they reach a number
    /// of bytes.
    package func find(
        _ namespace: Namespace, filter: Filter, options: FindOptions, bytesMax: Int
    ) throws(StoreError) -> [BSONDocument] {
        try executor.find(namespace, filter: filter, options: options, bytesMax: bytesMax)
    }

    /// Parses a filter and returns the documents that match.
    ///
    /// - Throws: also what ``Filter/init(_:)`` throws.
    public func find(
        _ namespace: Namespace, filter: BSONDocument = [:], options: FindOptions = .all
    ) throws(StoreError) -> [BSONDocument] {
        try find(namespace, filter: try Filter(filter), options: options)
    }

    /// Calls a body with every document that matches a filter.
    ///
    /// The body must not write to the same collection: whether it would see the change is
    /// unspecified.
    ///
    /// - Throws: as ``find(_:filter:options:)-(_,Filter,_)`` does, and the body's error, which ends
    ///   the iteration.
    public func forEach(
        _ namespace: Namespace, filter: Filter, options: FindOptions = .all,
        _ body: (BSONDocument) throws -> Void
    ) throws {
        try forEach(try planned(namespace, filter, options), body)
    }

    /// Calls a body with every document of a planned query, as ``forEach(_:filter:options:_:)-(_,Filter,_,_)``
    /// does.
    package func forEach(_ query: PlannedQuery, _ body: (BSONDocument) throws -> Void) throws {
        var failure: (any Error)?
        try executor.visit(query) { document in
            do {
                try body(document)
                return true
            } catch {
                failure = error
                return false
            }
        }
        if let failure { throw failure }
    }

    /// Parses a filter and calls a body with every document that matches.
    ///
    /// - Throws: also what ``Filter/init(_:)`` throws.
    public func forEach(
        _ namespace: Namespace, filter: BSONDocument = [:], options: FindOptions = .all,
        _ body: (BSONDocument) throws -> Void
    ) throws {
        try forEach(namespace, filter: try Filter(filter), options: options, body)
    }

    /// Checks the collation that a command names against that of a view; does nothing for a
    /// collection, or without a collation.
    ///
    /// - Throws: 167 (OptionNotSupportedOnView), and the errors of parsing the collation.
    package func checkCollation(
        _ collation: BSONDocument?, of namespace: Namespace
    ) throws(StoreError) {
        guard let collation, !collation.isEmpty, try isView(namespace) else { return }
        try ViewResolution(tables: executor.tables).check(
            try Collation(collation).unlessSimple, namespace)
    }

    /// Returns how many documents match a filter.
    ///
    /// - Throws: `corrupt` naming a document whose bytes are not valid BSON.
    public func count(
        _ namespace: Namespace, filter: Filter, hint: IndexHint? = nil
    ) throws(StoreError) -> Int {
        try executor.count(namespace, filter: filter, hint: hint)
    }

    /// Returns how many documents match a filter, or a number from a limit on if more do.
    ///
    /// - Parameter limit: the number after which counting may stop; 0 for no limit.
    /// - Throws: as ``count(_:filter:hint:)`` does.
    package func count(
        _ namespace: Namespace, filter: Filter, hint: IndexHint?, limit: Int
    ) throws(StoreError) -> Int {
        try executor.count(namespace, filter: filter, hint: hint, limit: limit)
    }

    /// Parses a filter and returns how many documents match.
    ///
    /// - Throws: also what ``Filter/init(_:)`` throws.
    public func count(_ namespace: Namespace, filter: BSONDocument) throws(StoreError) -> Int {
        try count(namespace, filter: try Filter(filter))
    }

    /// Returns the distinct values of a field in the documents that match a filter; array elements
    /// count one by one.
    ///
    /// - Throws: as ``count(_:filter:hint:)`` does.
    public func distinct(
        _ namespace: Namespace, field: String, filter: Filter = .all, hint: IndexHint? = nil
    ) throws(StoreError) -> [BSONValue] {
        try executor.distinct(namespace, field: field, filter: filter, hint: hint)
    }

    /// Calls a body with each document of a pipeline's result until the body returns false.
    ///
    /// - Parameters:
    ///   - namespace: the collection; the name "$cmd.aggregate" stands for the whole database.
    ///   - now: `$$NOW` in milliseconds since 1970.
    /// - Throws: errors with MongoDB's codes and messages for values that a stage rejects; 292 when
    ///   a stage would hold more than 100 MiB; 10334 for a document of more than 16 MiB.
    public func aggregate(
        _ namespace: Namespace, _ pipeline: Pipeline, now: BSONDatetime = .now,
        _ body: @escaping (BSONDocument) throws(StoreError) -> Bool
    ) throws(StoreError) {
        try executor.aggregate(namespace, pipeline, now: now, self as? WriteTransaction, body)
    }

    /// Returns the first document of a pipeline's result, which the caller may still divide: it can
    /// be as large as an intermediate one.
    ///
    /// - Throws: as ``aggregate(_:_:now:_:)`` does; 10334 for a document of more than 64 MiB.
    package func firstWhole(
        _ namespace: Namespace, _ pipeline: Pipeline
    ) throws(StoreError) -> BSONDocument? {
        var found: BSONDocument?
        try executor.aggregate(
            namespace, pipeline, now: .now, nil, bytesMax: ExpressionLimits.bytesMax
        ) { document in
            found = document
            return false
        }
        return found
    }

    /// Runs a pipeline on a collection and returns its documents; none when it writes them.
    ///
    /// - Throws: as ``aggregate(_:_:now:_:)`` does; `illegalOperation` (20) when the pipeline
    ///   writes and the transaction only reads.
    public func aggregate(
        _ namespace: Namespace, _ pipeline: Pipeline, now: BSONDatetime = .now
    ) throws(StoreError) -> [BSONDocument] {
        var documents: [BSONDocument] = []
        try aggregate(namespace, pipeline, now: now) { document in
            documents.append(document)
            return true
        }
        return documents
    }

    /// Completes a filter with the collection's collation and text index, and chooses the query's
    /// plan.
    ///
    /// - Throws: `badValue` (2) for a hint that names no index, `indexNotFound` (27) for `$text`
    ///   without a text index.
    package func planned(
        _ namespace: Namespace, _ filter: Filter, _ options: FindOptions
    ) throws(StoreError) -> PlannedQuery {
        try executor.planned(namespace, filter, options)
    }

    /// Returns the reader of the index keys by which a query finds its documents; `nil` without an
    /// index.
    package func indexKeyReader(_ query: PlannedQuery) throws(StoreError) -> IndexKeyReader? {
        try executor.indexKeyReader(query)
    }

    /// Whether a query scans all documents in the order of insertion, so that it can resume after
    /// any document.
    ///
    /// False where the access policy restricts the collection, since a read by row does not ask it.
    package func isInInsertionOrder(_ query: PlannedQuery) throws(StoreError) -> Bool {
        try executor.isInInsertionOrder(query)
    }

    /// Returns a filter as a query of the collection uses it: with its collation and text index.
    ///
    /// - Throws: `indexNotFound` (27) for `$text` without a text index.
    package func completed(
        _ filter: Filter, _ namespace: Namespace
    ) throws(StoreError) -> Filter {
        try executor.completed(filter, namespace)
    }

    /// Returns an update as a write of the collection uses it: with its collation.
    package func completed(
        _ update: Update, _ namespace: Namespace
    ) throws(StoreError) -> Update {
        try executor.completed(update, namespace)
    }

    /// Returns a document that a write found, as the projection of the write shows it.
    ///
    /// - Parameters:
    ///   - filter: the filter as the write was given it.
    ///   - selected: the document as the filter found it; `nil` if it did not change.
    /// - Throws: the errors of the projection.
    package func projected(
        _ document: BSONDocument, by projection: Projection?, _ filter: Filter,
        _ namespace: Namespace, selectedAs selected: BSONDocument? = nil
    ) throws(StoreError) -> BSONDocument {
        try executor.projected(document, by: projection, filter, namespace, selectedAs: selected)
    }

    /// Returns a query's plan in the shape of the command `explain`.
    ///
    /// `queryPlanner.winningPlan` has the stages `COLLSCAN`, `IDHACK`, `IXSCAN`, `FETCH`, `OR`,
    /// `SORT_MERGE`, `SORT`, `SKIP`, `LIMIT`, `PROJECTION_DEFAULT` and `PROJECTION_SIMPLE`,
    /// `SUBPLAN`, `COUNT_SCAN`, `DISTINCT_SCAN` and `EOF`; `rejectedPlans` lists the other plans. With
    /// `executionStats` the query is executed, and `totalDocsExamined` and `totalKeysExamined`
    /// count the documents and keys read.
    ///
    /// - Throws: as ``find(_:filter:options:)-(_,Filter,_)`` does.
    ///
    /// Source: MongoDB manual, "Explain Results".
    public func explain(
        _ namespace: Namespace, filter: Filter, options: FindOptions = .all,
        verbosity: ExplainVerbosity = .queryPlanner, command: ExplainedCommand = .find
    ) throws(StoreError) -> BSONDocument {
        try QueryExplainer(executor: executor).explain(
            namespace, filter: filter, options: options, verbosity: verbosity, command: command)
    }
}
