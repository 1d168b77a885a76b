/// The execution of queries as the access policy allows.
struct QueryExecutor {
    /// The transaction's connection.
    let connection: SQLiteConnection
    /// The transaction's access to collections.
    let access: TransactionAccess
    /// Whether the transaction writes.
    let isWriting: Bool
    /// The number of views that are being read, one inside the other.
    private var viewDepth = 0

    init(connection: SQLiteConnection, access: TransactionAccess, isWriting: Bool) {
        self.connection = connection
        self.access = access
        self.isWriting = isWriting
    }

    var tables: TableLookup { TableLookup(connection: connection) }
    var rows: RowLookup { RowLookup(connection: connection, readsChanges: isWriting) }
    var scanner: RowScanner { RowScanner(connection: connection, isWriting: isWriting) }
    private var planner: QueryPlanner { QueryPlanner(scanner: scanner) }
    private var indexes: IndexScanner { IndexScanner(connection: connection) }

    /// Returns the reader of a collection that the access policy restricts; `nil` for full access.
    func restricted(_ namespace: Namespace) -> RestrictedReader? {
        access.gate(namespace).map {
            RestrictedReader(gate: $0, scanner: scanner, source: access.source(of: namespace))
        }
    }

    /// Returns the documents that match a filter until they reach a number of bytes.
    ///
    /// - Throws: `corrupt` naming a document whose bytes are not valid BSON, 292 when a sort needs
    ///   more than 100 MiB, and SQLite's errors.
    func find(
        _ namespace: Namespace, filter: Filter, options: FindOptions, bytesMax: Int
    ) throws(StoreError) -> [BSONDocument] {
        var byteCount = 0
        let query = try planned(namespace, filter, options)
        if options.projection == nil, query.isInOrder {
            var batch = BSONDocumentBatch()
            try scanLimited(query) { bytes in
                batch.append(bytes)
                byteCount += bytes.count
                return byteCount < bytesMax
            }
            return batch.finish()
        }
        var documents: [BSONDocument] = []
        try visit(query) { document in
            documents.append(document)
            byteCount += document.byteCount
            return byteCount < bytesMax
        }
        return documents
    }

    /// Returns how many documents are visible; O(n) in index entries.
    func count(_ namespace: Namespace) throws(StoreError) -> Int {
        guard access.isRestricted(namespace) else { return try rows.count(namespace) }
        var count = 0
        try scan(namespace, .all, .all(nil)) { _, _ in
            count += 1
            return true
        }
        return count
    }

    /// Returns how many documents match a filter.
    ///
    /// - Parameter limit: the number after which counting may stop; 0 for no limit.
    /// - Throws: `corrupt` naming a document whose bytes are not valid BSON.
    func count(
        _ namespace: Namespace, filter: Filter, hint: IndexHint?, limit: Int = 0
    ) throws(StoreError) -> Int {
        let filter = try completed(filter, namespace)
        if hint == nil, let known = try knownCount(namespace, filter, limit: limit) {
            return known
        }
        if hint == nil, filter.isEverything, try tables.view(namespace) == nil {
            return try count(namespace)
        }
        let plan = try readingPlan(namespace, filter, nil, FindOptions(hint: hint))
        if case .index(let scan) = plan.rows, scan.isExact { return try indexes.count(scan) }
        var count = 0
        try scan(namespace, filter, plan, isContentUsed: false) { _, _ in
            count += 1
            return count != limit
        }
        return count
    }

    /// Returns how many documents match a filter, if the place of the documents can tell without
    /// sending them; else `nil`.
    ///
    /// - Parameter limit: the number after which to stop counting; 0 for no limit.
    func knownCount(
        _ namespace: Namespace, _ filter: Filter, limit: Int = 0
    ) throws(StoreError) -> Int? {
        guard access.source != nil, try tables.view(namespace) == nil else { return nil }
        return try restricted(namespace)?.count(namespace, filter, limit: limit)
    }

    /// Returns the distinct values of a field in the documents that match a filter; array elements
    /// count one by one.
    ///
    /// - Throws: as ``count(_:filter:hint:)`` does.
    func distinct(
        _ namespace: Namespace, field: String, filter: Filter, hint: IndexHint?
    ) throws(StoreError) -> [BSONValue] {
        let filter = try completed(filter, namespace)
        var values = try DistinctValues(field, collation: filter.collation)
        if hint == nil, let scan = try distinctScan(namespace, field, filter) {
            try collect(&values, scan, namespace)
            return try values.sorted()
        }
        let plan = try plan(namespace, filter, nil, FindOptions(hint: hint))
        do throws(StoreError) {
            try scan(namespace, filter, plan) { (_, bytes) throws(StoreError) in
                values.insert(bytes)
                try values.countMemory()
                return true
            }
        } catch {
            throw error.during(.execution)
        }
        return try values.sorted()
    }

    /// Collects the values of a field from one document per value.
    func collect(
        _ values: inout DistinctValues, _ scan: IndexScan, _ namespace: Namespace
    ) throws(StoreError) {
        _ = try tables.onTable(namespace) { (table) throws(StoreError) in
            try indexes.distinct(table, scan, into: &values)
        }
    }

    /// Calls a body with each document, ordered and projected, until the body returns false; the
    /// errors are those of the execution.
    func visit(
        _ query: PlannedQuery, _ body: (BSONDocument) throws(StoreError) -> Bool
    ) throws(StoreError) {
        do throws(StoreError) {
            try execute(query, body)
        } catch {
            throw error.during(.execution)
        }
    }

    private func execute(
        _ query: PlannedQuery, _ body: (BSONDocument) throws(StoreError) -> Bool
    ) throws(StoreError) {
        let (namespace, options) = (query.namespace, query.options)
        let placement = try placement(query, options.projection?.placement ?? [])
        let project = { (document: BSONDocument) throws(StoreError) -> BSONDocument in
            try options.projection?.apply(
                to: document, matching: query.filter, selectedAs: nil, sortedBy: query.order,
                at: placement?.metadata(of: document) ?? [:]) ?? document
        }
        guard let sort = query.order, !query.plan.isSorted else {
            return try scanLimited(query) { (bytes) throws(StoreError) in
                try body(try project(BSONDocument(unchecked: Array(bytes))))
            }
        }
        var sorter = DocumentSorter(
            order: sort, skip: options.skip, limit: options.limit, bytesMax: options.sortBytesMax)
        let first = options.end.map { FirstDocuments(order: sort, count: $0) }
        do throws(StoreError) {
            try scan(namespace, query.filter, query.plan, first: first) {
                (_, bytes) throws(StoreError) in
                let document = BSONDocument(unchecked: Array(bytes))
                let metadata = sort.needsMetadata ? query.filter.metadata(of: document) : [:]
                try sorter.insert(document, metadata: metadata)
                return true
            }
        } catch {
            // As in MongoDB, a plan that needs no sort takes over.
            guard error.code == .queryExceededMemoryLimitNoDiskUseAllowed,
                let other = try presorted(query)
            else { throw error }
            return try execute(other, body)
        }
        for document in sorter.sorted().dropFirst(options.skip) {
            guard try body(try project(document)) else { return }
        }
    }

    /// Returns the reader of the metadata that depends on where the documents of a query are
    /// stored; `nil` if none is requested, and for views and collections that the access policy
    /// restricts.
    func placement(
        _ query: PlannedQuery, _ requested: RequestedMetadata
    ) throws(StoreError) -> StoredPlacement? {
        let namespace = query.namespace
        guard !requested.isEmpty, !access.isRestricted(namespace),
            try tables.view(namespace) == nil,
            let isClustered = try tables.onTable(namespace, { $0.isClustered })
        else { return nil }
        return StoredPlacement(
            namespace, requested, query.plan, query.filter, isClustered: isClustered, rows: rows)
    }

    /// Returns the reader of the index keys by which a query finds its documents; `nil` without an
    /// index.
    func indexKeyReader(_ query: PlannedQuery) throws(StoreError) -> IndexKeyReader? {
        try tables.onTable(query.namespace) { $0.isClustered }
            .flatMap { IndexKeyReader(query.plan, isClustered: $0) }
    }

    /// Returns a query with a plan that needs no sort; `nil` if no index has the order, or if the
    /// options name an index.
    private func presorted(_ query: PlannedQuery) throws(StoreError) -> PlannedQuery? {
        let namespace = query.namespace
        guard let order = query.order, !query.options.namesIndex,
            !access.isRestricted(namespace),
            let plan = try planner.sortedPlan(namespace, query.filter, order)
        else { return nil }
        var query = query
        query.plan = plan
        return query
    }

    /// Completes a filter with what the collection says, and chooses the query's plan.
    func planned(
        _ namespace: Namespace, _ given: Filter, _ options: FindOptions
    ) throws(StoreError) -> PlannedQuery {
        let filter = try completed(given, namespace)
        // The sort compares strings as the filter does.
        let order =
            (given.collation == filter.collation
                ? options.sort : options.sort?.collated(filter.collation)) ?? filter.impliedOrder
        var options = options
        if let projection = options.projection {
            options.projection = try projection.bound(to: filter)
        }
        return PlannedQuery(
            namespace: namespace, filter: filter, order: order, options: options,
            plan: try readingPlan(namespace, filter, order, options))
    }

    /// Calls a body with the documents of an ordered plan, without the skipped ones and those above the
    /// limit.
    private func scanLimited(
        _ query: PlannedQuery, _ body: (UnsafeRawBufferPointer) throws(StoreError) -> Bool
    ) throws(StoreError) {
        let namespace = query.namespace
        let (skip, limit) = (query.options.skip, query.options.limit)
        guard skip > 0 || limit > 0 else {
            return try scan(namespace, query.filter, query.plan, sort: query.order) {
                (_, bytes) throws(StoreError) in try body(bytes)
            }
        }
        var skipped = 0
        var given = 0
        try scan(namespace, query.filter, query.plan, sort: query.order) {
            (_, bytes) throws(StoreError) in
            guard skipped == skip else {
                skipped += 1
                return true
            }
            given += 1
            return try body(bytes) && given != limit
        }
    }

    /// Calls a body with the bytes of each visible, matching document, and its row if wanted, until
    /// the body returns false.
    ///
    /// - Parameter isContentUsed: whether the body reads the bytes, which are then validated
    ///   completely.
    /// - Parameter first: the documents that are needed if the body does not need all.
    func scan(
        _ namespace: Namespace, _ filter: Filter, _ plan: QueryPlan, sort: SortOrder? = nil,
        withRows: Bool = false, isContentUsed: Bool = true, first: FirstDocuments? = nil,
        _ body: (Int64, UnsafeRawBufferPointer) throws(StoreError) -> Bool
    ) throws(StoreError) {
        if let reader = restricted(namespace) {
            return try scan(reader, namespace, filter, plan, first, body)
        }
        if let view = try tables.view(namespace) {
            return try scan(view, named: namespace, filter, body)
        }
        _ = try tables.onTable(namespace) { (table) throws(StoreError) in
            try scanner.scan(
                table, filter, plan, sort: sort, withRows: withRows, isContentUsed: isContentUsed,
                body)
        }
    }

    private func scan(
        _ reader: RestrictedReader, _ namespace: Namespace, _ filter: Filter, _ plan: QueryPlan,
        _ first: FirstDocuments?,
        _ body: (Int64, UnsafeRawBufferPointer) throws(StoreError) -> Bool
    ) throws(StoreError) {
        guard reader.gate.filter != nil, let view = try tables.view(namespace) else {
            return try reader.scan(namespace, filter, plan, first: first, body)
        }
        try scan(view, named: namespace, .all) { (row, bytes) throws(StoreError) in
            try reader.pass(row, BSONDocument(unchecked: Array(bytes)), filter, body)
        }
    }

    /// Calls a body with each matching document of a view until the body returns false.
    private func scan(
        _ view: CollectionOptions.View, named namespace: Namespace, _ filter: Filter,
        _ body: (Int64, UnsafeRawBufferPointer) throws(StoreError) -> Bool
    ) throws(StoreError) {
        // A damaged file may hold views that contain themselves.
        guard viewDepth < ViewDefinitionCheck.depthMax else { throw ViewDefinitionCheck.tooDeep }
        // Views may be many where documents are few.
        try WorkBudget.spend(16)
        var inner = self
        inner.viewDepth += 1
        try ViewResolution(tables: tables).checkDepth(of: view, in: namespace.database)
        // The view compares texts by its own collation, whatever that of its collection is.
        var options = PipelineOptions()
        options.collation = try tables.onTable(namespace) { $0.collation ?? .simple } ?? .simple
        let pipeline = try Pipeline(view.pipeline, options: options)
        let source = Namespace(namespace.database, view.on)
        // An error of the reader is none of the view's pipeline.
        var failure: StoreError?
        try withoutActuallyEscaping(body) { (body) throws(StoreError) in
            // The pipeline of the view is a part of the pipeline that reads it.
            try inner.aggregate(
                source, pipeline, now: CommandTime.now, nil, bytesMax: ExpressionLimits.bytesMax
            ) { (document) throws(StoreError) in
                do throws(StoreError) {
                    return try document.withUnsafeBytes { (bytes) throws(StoreError) -> Bool in
                        try filter.evaluate(bytes) ? try body(0, bytes) : true
                    }
                } catch {
                    failure = error
                    return false
                }
            }
        }
        if let failure { throw failure }
    }

    /// Calls a body with each document of a pipeline's result until the body returns false.
    ///
    /// - Parameters:
    ///   - namespace: the collection; the name "$cmd.aggregate" stands for the whole database.
    ///   - now: `$$NOW` in milliseconds since 1970.
    ///   - target: the target of `$merge` and `$out`; `nil` if the transaction only reads.
    ///   - bytesMax: the maximum size of a document of the result.
    /// - Throws: errors with MongoDB's codes and messages for values that a stage rejects; 292 when
    ///   a stage would hold more than 100 MiB; 10334 for a document of more than 16 MiB.
    func aggregate(
        _ namespace: Namespace, _ pipeline: Pipeline, now: BSONDatetime,
        _ target: (any AggregationTarget)?, bytesMax: Int = ExpressionLimits.resultBytesMax,
        _ body: @escaping (BSONDocument) throws(StoreError) -> Bool
    ) throws(StoreError) {
        let collation = try tables.onTable(namespace) { $0.collation } ?? nil
        // The views inside a view had the same collation when they were made.
        if viewDepth == 0, access.isOpen(namespace) {
            try ViewResolution(tables: tables).check(pipeline, on: namespace, collation) { name in
                access.isOpen(name)
            }
        }
        let pipeline = try pipeline.adapted(to: collation)
        let source = QuerySource(executor: self, writesTo: target)
        try pipeline.run(on: namespace, from: source, now: now) { (document) throws(StoreError) in
            guard document.byteCount <= bytesMax else {
                throw ExpressionLimits.tooLarge(document.byteCount)
            }
            return try body(document)
        }
    }
}

// MARK: - Planning

extension QueryExecutor {
    /// Completes a filter as ``QueryPlanner/completed(_:_:)`` does; where the access policy restricts the
    /// collection, only with one time for all documents.
    ///
    /// - Throws: `indexNotFound` (27) for `$text` without a text index, 291 for `$near` without an
    ///   index of its places.
    func completed(_ filter: Filter, _ namespace: Namespace) throws(StoreError) -> Filter {
        // An error must not reveal that a hidden collection or its text index exists.
        guard access.isOpen(namespace) else { return filter.timed }
        return try planner.completed(filter, namespace)
    }

    /// Returns an update with the collection's collation, unless it has its own.
    func completed(_ update: Update, _ namespace: Namespace) throws(StoreError) -> Update {
        guard access.isOpen(namespace) else { return update }
        let found = try tables.onTable(namespace) { (table) throws(StoreError) in
            try update.adapted(to: table.collation)
        }
        return found ?? update
    }

    /// Returns a document that a write found, as the projection of the write shows it.
    ///
    /// - Parameters:
    ///   - filter: the filter as the write was given it.
    ///   - selected: the document as the filter found it; `nil` if it did not change.
    func projected(
        _ document: BSONDocument, by projection: Projection?, _ filter: Filter,
        _ namespace: Namespace, selectedAs selected: BSONDocument?
    ) throws(StoreError) -> BSONDocument {
        guard let projection else { return document }
        let filter = try completed(filter, namespace)
        return try projection.bound(to: filter).apply(
            to: document, matching: filter, selectedAs: selected)
    }

    /// Plans a query.
    ///
    /// Of a collection that the access policy restricts, the plan only says in which direction all
    /// documents are read: ``RestrictedReader`` chooses the index that it may use itself.
    func plan(
        _ namespace: Namespace, _ filter: Filter, _ sort: SortOrder?, _ options: FindOptions = .all
    ) throws(StoreError) -> QueryPlan {
        guard access.isRestricted(namespace), options.min.isEmpty, options.max.isEmpty else {
            return try planner.plan(namespace, filter, sort, options)
        }
        return .all(sort, options.hint)
    }

    /// Plans a query whose documents are only read, without a trial where one index is enough.
    private func readingPlan(
        _ namespace: Namespace, _ filter: Filter, _ sort: SortOrder?, _ options: FindOptions
    ) throws(StoreError) -> QueryPlan {
        if sort == nil, !options.namesIndex, !access.isRestricted(namespace),
            let plan = try planner.soleIndex(namespace, filter)
        {
            return plan
        }
        return try plan(namespace, filter, sort, options)
    }

    /// Returns the scan that steps from one value of a field to the next; `nil` if no index has
    /// one.
    func distinctScan(
        _ namespace: Namespace, _ field: String, _ filter: Filter
    ) throws(StoreError) -> IndexScan? {
        guard !access.isRestricted(namespace) else { return nil }
        return try planner.distinctScan(namespace, field, filter)
    }

    /// Whether a query scans all documents in the order of insertion, so that it can resume after
    /// any document.
    ///
    /// False where the access policy restricts the collection, since a read by row does not ask it.
    func isInInsertionOrder(_ query: PlannedQuery) throws(StoreError) -> Bool {
        let namespace = query.namespace
        // A text score depends on the text index, which is looked up with the query.
        guard query.order == nil, query.filter.textSearch == nil,
            case .range(let range) = query.plan.rows, !range.isByKey, range.order == .inserted,
            !access.isRestricted(namespace), try tables.view(namespace) == nil
        else { return false }
        return try tables.onTable(namespace) { !$0.isClustered } ?? true
    }
}
