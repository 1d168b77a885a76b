internal import BSONStore

/// Finds documents.
///
/// Source: MongoDB manual, "find"; the server's `find_command.idl`.
enum FindCommand {
    static let rule = CommandRule(
        "find", .read, fields: fields, .store(run))

    static let fields: [String: FieldKind] = [
        "filter": .document, "projection": .document, "sort": .document, "hint": .hint,
        "skip": .number, "limit": .number, "batchSize": .number, "singleBatch": .flag,
        "allowDiskUse": .bool, "min": .document, "max": .document, "returnKey": .flag,
        "showRecordId": .flag, "tailable": .flag, "oplogReplay": .flag, "awaitData": .flag,
        "noCursorTimeout": .flag, "allowPartialResults": .flag, "mirrored": .bool,
        "collation": .document, "let": .document, "term": .number, "options": .number,
        "querySettings": .document, "includeQueryStatsMetrics": .flag,
        "readOnce": .bool, "resumeAfter": .document, "requestResumeToken": .bool,
    ]

    private static func run(_ call: CommandCall, _ store: StoreBackend) throws -> CommandOutcome {
        let namespace = try call.collection()
        let query = try FindQuery(call)
        var documents: [BSONDocument] = []
        try store.read(call) { transaction in
            try transaction.forEach(
                namespace, filter: query.filter, options: query.options
            ) { document in
                try call.checkTime()
                documents.append(document)
            }
        }
        return try store.open(
            ListSource(documents), namespace, call, batchSize: try call.count("batchSize"),
            isSingle: call.flag("singleBatch") || call.number("limit") ?? 0 < 0,
            options: CursorOptions(
                noTimeout: call.flag("noCursorTimeout"), isTailable: call.flag("tailable"),
                awaitsData: call.flag("awaitData")))
    }
}

/// Is what a `find` asks for, read.
struct FindQuery: Sendable {
    let filter: Filter
    let options: FindOptions

    init(filter: Filter, options: FindOptions = .all) {
        self.filter = filter
        self.options = options
    }

    /// Reads the stages at the beginning of a pipeline that are a query.
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
        filter = try Filter(
            document, variables: call.document("let"), collation: collation, now: .now)
        options = try FindOptions(sort: sort, skip: skip, limit: limit, hint: try call.hint())
    }

    init(_ call: CommandCall) throws {
        let collation = try call.collation()
        let variables = call.document("let")
        filter = try Filter(
            call.document("filter") ?? [:], variables: variables, collation: collation,
            now: .now)
        let sort = try call.document("sort").flatMap { document in
            document.isEmpty ? nil : try SortOrder(document, collation: collation)
        }
        let projection = try call.document("projection").flatMap { document in
            document.isEmpty
                ? nil
                : try Projection(document, variables: variables ?? [:], collation: collation)
        }
        options = try FindOptions(
            sort: sort, skip: try call.count("skip") ?? 0,
            limit: abs(call.number("limit") ?? 0), projection: projection,
            hint: try call.hint())
    }
}
