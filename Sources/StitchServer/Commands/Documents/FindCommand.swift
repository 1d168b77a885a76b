internal import BSONStore
internal import StitchRules

/// Finds documents.
///
/// Source: MongoDB manual, "find"; the server's `find_command.idl`.
enum FindCommand {
    static let rule = CommandDefinition(
        "find", .read, fields: fields, .store(run))

    static let fields: [String: FieldKind] = [
        "filter": .document, "projection": .document, "sort": .document, "hint": .hint,
        "skip": .number, "limit": .number, "batchSize": .number, "singleBatch": .flag,
        "allowDiskUse": .bool, "min": .document, "max": .document, "returnKey": .flag,
        "showRecordId": .flag, "tailable": .flag, "oplogReplay": .flag, "awaitData": .flag,
        "noCursorTimeout": .flag, "allowPartialResults": .flag, "mirrored": .bool,
        "collation": .document, "let": .document, "term": .number, "options": .number,
        "querySettings": .document, "includeQueryStatsMetrics": .flag,
        "readOnce": .bool,
    ]

    /// The reply's field for a query in which rules may hide documents, whether they do or not.
    ///
    /// In such a reply a missing document proves nothing.
    private static let viewIsLimited = "viewIsLimited"

    private static func run(_ call: CommandCall, _ store: StoreBackend) throws -> CommandOutcome {
        let namespace = try call.collection()
        let ruleGuard = try store.ruleGuard(call)
        let wasLimited = isLimited(namespace, ruleGuard)
        let outcome = try find(namespace, call, store, ruleGuard)
        // A rule change may limit the view during the read only.
        guard case .reply(var reply) = outcome,
            try wasLimited || isLimited(namespace, store.ruleGuard(call))
        else { return outcome }
        reply.append(viewIsLimited, true)
        return .reply(reply)
    }

    private static func isLimited(_ namespace: Namespace, _ ruleGuard: RuleAccessPolicy?) -> Bool {
        ruleGuard?.access(namespace).seesAll == false
    }

    private static func find(
        _ namespace: Namespace, _ call: CommandCall, _ store: StoreBackend,
        _ ruleGuard: RuleAccessPolicy?
    ) throws -> CommandOutcome {
        let query = try FindQuery(call)
        let batchSize = try call.count("batchSize")
        let options = try options(call, query)
        let isOpen = try store.read(call) { transaction in
            if try transaction.isView(namespace) { try QueryOptionsCheck.checkOfView(call) }
            if options.isTailable { try checkTailable(namespace, transaction) }
            return try call.snapshot == nil && query.isPlain
                && transaction.isInInsertionOrder(namespace, query.filter, query.options)
        }
        let isSingle = call.flag("singleBatch")
        guard !isOpen else {
            return try store.open(
                RowSource(store, namespace, query, isTailable: options.isTailable), namespace,
                call, under: ruleGuard, batchSize: batchSize, isSingle: isSingle, options: options)
        }
        let documents = try documents(call, store, namespace, query)
        let limit = query.options.limit
        let source = ListSource(
            documents, knowsEnd: query.filter.asksForOneID || limit > 0 && documents.count == limit)
        return try store.open(
            source, namespace, call, under: ruleGuard, batchSize: batchSize, isSingle: isSingle,
            options: options)
    }

    private static func documents(
        _ call: CommandCall, _ store: StoreBackend, _ namespace: Namespace, _ query: FindQuery
    ) throws -> [BSONDocument] {
        try store.read(call) { transaction in
            let decoration = try FindResultFormat(call, query, namespace, transaction)
            var documents: [BSONDocument] = []
            do {
                try transaction.forEach(
                    namespace, filter: query.filter, options: decoration.options
                ) { document in
                    try call.checkTime()
                    documents.append(try decoration.shown(document).compacted())
                }
            } catch {
                throw CommandFailure.framed(error, "Executor error during find command")
            }
            return documents
        }
    }

    private static func options(
        _ call: CommandCall, _ query: FindQuery
    ) throws(CommandFailure) -> CursorOptions {
        let options = CursorOptions(
            noTimeout: call.flag("noCursorTimeout"), isTailable: call.flag("tailable"),
            awaitsData: call.flag("awaitData"), hasTimeLimit: call.deadline != nil)
        if options.awaitsData, !options.isTailable {
            throw CommandFailure(
                .failedToParse, "Cannot set 'awaitData' without also setting 'tailable'")
        }
        if options.isTailable, query.options.sort != nil {
            throw CommandFailure(
                .badValue, "cannot use tailable option with a sort other than {$natural: 1}")
        }
        if options.isTailable, call.flag("singleBatch") {
            throw CommandFailure(
                .badValue, "cannot use tailable option with the 'singleBatch' option")
        }
        return options
    }

    private static func checkTailable(
        _ namespace: Namespace, _ transaction: ReadTransaction
    ) throws {
        guard let options = try transaction.options(namespace), options.capped == nil else {
            return
        }
        throw CommandFailure(
            .badValue,
            "error processing query: ns=\(namespace) tailable cursor requested on non capped "
                + "collection")
    }
}

/// The parsed arguments of a `find`.
struct FindQuery: Sendable {
    let filter: Filter
    let options: FindOptions
    /// Whether the query uses none of `min`, `max`, `returnKey` and `showRecordId`.
    let isPlain: Bool

    init(filter: Filter, options: FindOptions = .all) {
        self.filter = filter
        self.options = options
        isPlain = true
    }

    /// Reads the leading stages of a pipeline that form a query.
    init(_ stages: [BSONDocument], _ call: CommandCall) throws {
        let collation = try call.collation()
        var parts: [BSONValue] = []
        var (sort, skip, limit): (SortOrder?, Int, Int) = (nil, 0, 0)
        for stage in stages {
            guard let (name, value) = stage.first(where: { _ in true }) else { continue }
            if name == "$match" { parts.append(value) }
            if name == "$sort", let document = value.documentValue {
                sort = try SortOrder(document, collation: collation)
            }
            if name == "$skip" { skip = value.wholeNumber ?? 0 }
            if name == "$limit" { limit = value.wholeNumber ?? 0 }
        }
        let document: BSONDocument =
            parts.count > 1
            ? ["$and": .array(BSONArray(parts))] : parts.first?.documentValue ?? [:]
        filter = try CommandCall.filter(
            document, variables: call.document("let"), collation: call["collation"])
        options = try FindOptions(sort: sort, skip: skip, limit: limit, hint: try call.hint())
        isPlain = true
    }

    init(_ call: CommandCall) throws {
        try QueryOptionsCheck.check(call)
        let collation = try call.collation()
        let variables = call.document("let")
        filter = try CommandCall.filter(
            call.document("filter"), variables: variables, collation: call["collation"])
        try QueryOptionsCheck.check(filter, call, fields: "projection")
        let sort = try Self.sort(call, collation)
        let projection = try call.document("projection").flatMap { document in
            document.isEmpty
                ? nil
                : try Projection(document, variables: variables ?? [:], collation: collation)
        }
        // A tailable cursor reads in insertion order, whatever index there is.
        let isNatural = call.flag("tailable") || call.document("sort")?["$natural"] != nil
        let hint = try call.hint()
        var options = try FindOptions(
            sort: sort, skip: try call.count("skip") ?? 0,
            limit: try call.limit(), projection: projection, hint: isNatural ? .natural : hint)
        options.min = call.document("min") ?? [:]
        options.max = call.document("max") ?? [:]
        self.options = options
        isPlain =
            options.min.isEmpty && options.max.isEmpty && !call.flag("returnKey")
            && !call.flag("showRecordId")
    }

    /// Returns the sort order; the natural order is `nil`, but a hint may reverse it.
    private static func sort(
        _ call: CommandCall, _ collation: Collation?
    ) throws -> SortOrder? {
        let natural = "$natural"
        let sort = call.document("sort") ?? [:]
        guard sort.isEmpty || sort[natural] != nil else {
            return try SortOrder(sort, collation: collation)
        }
        guard let direction = sort[natural] ?? call.document("hint")?[natural],
            direction.wholeNumber != 1
        else { return nil }
        return try SortOrder([natural: direction])
    }
}
