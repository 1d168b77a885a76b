internal import BSONStore
internal import StitchRules

/// The parsed arguments of a `find`.
struct FindQuery: Sendable {
    let filter: Filter
    let options: FindOptions
    /// Whether the query uses none of `min`, `max`, `returnKey`, `showRecordId` and `$meta` of a
    /// record or an index key.
    let isPlain: Bool

    /// Creates the query that a plan completed: with the collation of the collection, and with one
    /// time for all batches.
    init(_ planned: PlannedQuery, of query: FindQuery) {
        filter = planned.filter
        options = planned.options
        isPlain = query.isPlain
    }

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
        if sort != nil { options.sortBytesMax = Self.sortBytesMax(call) }
        self.options = options
        isPlain =
            options.min.isEmpty && options.max.isEmpty && !call.flag("returnKey")
            && !call.flag("showRecordId") && projection?.placement.isEmpty != false
    }

    /// Returns the memory of a sort; nothing is written to disk.
    ///
    /// As in MongoDB since version 6.0, a command may use the disk unless it says otherwise.
    private static func sortBytesMax(_ call: CommandCall) -> Int {
        call["allowDiskUse"]?.isTrue ?? true
            ? PipelineOptions.bytesMaxWithDiskUse : PipelineOptions.bytesMax
    }

    /// Returns the sort order; the natural order is `nil`, but a hint may reverse it.
    private static func sort(
        _ call: CommandCall, _ collation: Collation?
    ) throws -> SortOrder? {
        let natural = "$natural"
        let sort = call.document("sort") ?? [:]
        guard sort.isEmpty || sort[natural] != nil else {
            try SortOrder.checkCount(of: sort)
            return try SortOrder(sort, collation: collation)
        }
        guard let direction = sort[natural] ?? call.document("hint")?[natural],
            direction.wholeNumber != 1
        else { return nil }
        return try SortOrder([natural: direction])
    }
}
