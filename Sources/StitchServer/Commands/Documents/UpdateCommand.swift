internal import BSONStore

/// Updates documents.
///
/// Source: MongoDB manual, "update"; the server's `write_ops.idl`.
enum UpdateCommand {
    static let definition = CommandDefinition(
        "update", aliases: [], .write,
        fields: [
            "updates": .array, "ordered": .flag, "bypassDocumentValidation": .flag,
            "let": .document, "stmtId": .number, "stmtIds": .array, "runtimeConstants": .document,
            "collectionUUID": .any, "encryptionInformation": .document,
            "bypassEmptyTsReplacement": .bool,
        ], required: ["updates"],
        privileges: .access(.write), underRules: .writes, gateway: .upstream,
        statements: .updates, cursor: .none, .store(run))

    private static func run(_ call: CommandCall, _ backend: StoreBackend) throws -> CommandOutcome {
        let namespace = try call.collection()
        try namespace.checkWritable()
        try TransactionScope.checkWrite(to: namespace, call)
        let statements = try call.documents("updates").map { try UpdateStatement($0) }
        try WriteBatch.checkCount(statements.count)
        for statement in statements { try statement.checkStages() }
        try call.checkRetryable(isMulti: statements.contains { $0.isMulti })
        let isOrdered = call["ordered"]?.isTrue ?? true
        let variables = call.document("let")
        let keepsEmptyTimestamps = call.flag("bypassEmptyTsReplacement")
        let quick = statements.map { variables == nil && $0.isQuick }
        let writes = try ParsedWrites(
            quickSizes: zip(statements, quick).lazy.map { $1 ? $0.document.byteCount : nil }, call
        ) {
            try statements[$0].parsed(
                variables: variables, keepsEmptyTimestamps: keepsEmptyTimestamps)
        }
        let reply = try backend.runner.reply(call) { transaction in
            var batch = WriteBatch()
            var modified = 0
            try WriteBatch.run(
                statements.count, isOrdered: isOrdered, transaction, isQuick: { quick[$0] }
            ) { index in
                try call.checkTime()
                backend.runner.begin(statement: index, in: transaction)
                let outcome = try writes.write(at: index).run(on: namespace, transaction)
                return (outcome.matchedCount, outcome.modifiedCount, outcome.upsertedID)
            } take: { index, result in
                switch result {
                case .success((let matchedCount, let modifiedCount, let upsertedID)):
                    batch.count += matchedCount
                    modified += modifiedCount
                    guard let upsertedID else { return }
                    batch.count += 1
                    batch.upserted.append(
                        ["index": .int32(Int32(clamping: index)), "_id": upsertedID])
                case .failure(let fault): batch.add(fault, at: index)
                }
            }
            batch.modified = modified
            return batch.reply
        }
        return .reply(reply)
    }
}

/// One statement of an `update`.
struct UpdateStatement: Sendable {
    private static let schema = CommandSchema(
        fields: [
            "q": .document, "u": .any, "c": .document, "arrayFilters": .array, "multi": .flag,
            "upsert": .flag, "upsertSupplied": .bool, "collation": .document, "hint": .hint,
            "sort": .document, "sampleId": .any,
            "allowShardKeyUpdatesWithoutFullShardKeyInQuery":
                .bool, "includeQueryStatsMetricsForOpIndex": .any,
        ], required: ["q", "u"])
    private static let bulkSchema = CommandSchema(
        fields: [
            "update": .number, "filter": .document, "updateMods": .any, "multi": .flag,
            "upsert": .flag, "arrayFilters": .array, "hint": .hint, "collation": .document,
            "constants": .document, "sort": .document, "upsertSupplied": .bool,
        ], required: ["filter", "updateMods"])

    let query: BSONDocument
    let update: BSONValue
    let isMulti: Bool
    let upserts: Bool
    let upsertsSupplied: Bool
    let document: BSONDocument

    init(_ document: BSONDocument) throws {
        try Self.schema.check(document, named: "update.updates")
        self.document = document
        query = document["q"]?.documentValue ?? [:]
        update = document["u"] ?? .null
        isMulti = document["multi"]?.isTrue ?? false
        upserts = document["upsert"]?.isTrue ?? false
        upsertsSupplied = document["upsertSupplied"]?.isTrue ?? false
        try Self.check(update)
        _ = try arrayFilters()
    }

    /// Refuses an invalid update before anything is changed.
    ///
    /// - Throws: 9, 14.
    private static func check(_ update: BSONValue) throws(CommandFailure) {
        guard update.documentValue == nil else { return }
        guard let stages = update.arrayValue else {
            throw CommandFailure(
                .failedToParse, "Update argument must be either an object or an array")
        }
        for stage in stages where stage.documentValue == nil {
            throw CommandFailure(
                .typeMismatch, "Each element of the 'pipeline' array must be an object")
        }
    }

    /// Reads an update of a `bulkWrite`.
    init(bulk document: BSONDocument) throws {
        try Self.bulkSchema.check(document, named: "bulkWrite.ops")
        self.document = document
        query = document["filter"]?.documentValue ?? [:]
        update = document["updateMods"] ?? .null
        isMulti = document["multi"]?.isTrue ?? false
        upserts = document["upsert"]?.isTrue ?? false
        upsertsSupplied = document["upsertSupplied"]?.isTrue ?? false
    }

    /// The operators that only take values, which cost nothing to parse.
    private static let plainOperators: Set<String> = [
        "$set", "$unset", "$inc", "$min", "$max", "$mul", "$setOnInsert", "$currentDate",
    ]

    /// Whether the statement changes one document, which it finds by its key, and computes nothing.
    var isQuick: Bool {
        guard !isMulti, document["arrayFilters"] == nil, document["sort"] == nil,
            let update = update.documentValue,
            WriteBatch.isOfOneDocument(query, of: document)
        else { return false }
        return update.keys.allSatisfy { Self.plainOperators.contains($0) || !$0.hasBytePrefix("$") }
    }

    /// Refuses a pipeline with an unknown stage before anything is changed.
    ///
    /// - Throws: 40323, 40324.
    func checkStages() throws {
        guard update.arrayValue != nil else { return }
        do {
            _ = try Update(update)
        } catch  where [.stageNotSingleField, .unknownStage].contains(error.code) {
            throw error
        } catch {
            // Reported for this statement, when its turn comes.
            return
        }
    }

    /// Returns the statement as it is run.
    ///
    /// - Throws: the errors of an invalid filter, update, sort order or collation.
    func parsed(variables: BSONDocument?, keepsEmptyTimestamps: Bool) throws -> ParsedUpdate {
        let collation = try CommandCall.collation(document["collation"])
        var update = try parsedUpdate(variables: variables)
        update.keepsEmptyTimestamps = keepsEmptyTimestamps
        update.writesEqualReplacement = true
        let filter = try CommandCall.filter(
            query, variables: Self.variables(of: document, beside: variables),
            collation: document["collation"])
        return ParsedUpdate(
            filter: filter, update: update, supplied: try supplied(), sort: try order(collation),
            isMulti: isMulti, upserts: upserts, hint: document["hint"])
    }

    /// Returns what an upsert inserts instead of what the pipeline makes, with `upsertSupplied`.
    ///
    /// - Throws: 9 (FailedToParse) when the constants have no document `new`.
    private func supplied() throws -> Update? {
        guard upserts, upsertsSupplied, update.arrayValue != nil else { return nil }
        guard let new = Self.constants(of: document)?["new"]?.documentValue else {
            throw CommandFailure(
                .failedToParse,
                "the parameter 'upsertSupplied' is set to 'true', but no document was supplied")
        }
        return try Update(replacement: new)
    }

    private static func constants(of statement: BSONDocument) -> BSONDocument? {
        (statement["c"] ?? statement["constants"])?.documentValue
    }

    /// Returns the variables of a statement's filter and pipeline: its constants, and those of the
    /// command's `let`.
    static func variables(
        of statement: BSONDocument, beside variables: BSONDocument?
    ) -> BSONDocument? {
        guard let constants = constants(of: statement) else { return variables }
        var all = variables ?? [:]
        for (name, value) in constants { all.append(name, ["$literal": value]) }
        return all
    }

    /// Returns the order in which the first matching document is updated; `nil` without one.
    ///
    /// - Throws: 9 (FailedToParse) for an update of several documents.
    private func order(_ collation: Collation?) throws -> SortOrder? {
        guard let sort = document["sort"]?.documentValue, !sort.isEmpty else { return nil }
        guard !isMulti else {
            throw CommandFailure(.failedToParse, "Cannot specify sort with multi=true")
        }
        return try SortOrder(sort, collation: collation)
    }

    /// Parses the update.
    ///
    /// - Throws: the parse errors, 51198 for constants of an update without a pipeline.
    func parsedUpdate(variables: BSONDocument?) throws -> Update {
        guard Self.constants(of: document) == nil || update.arrayValue != nil else {
            throw CommandFailure(
                51198, "Constant values may only be specified for pipeline updates")
        }
        return try Update(
            update, variables: Self.variables(of: document, beside: variables) ?? [:],
            arrayFilters: try arrayFilters(),
            collation: try CommandCall.collation(document["collation"]))
    }

    private func arrayFilters() throws(CommandFailure) -> [BSONDocument] {
        var filters: [BSONDocument] = []
        for (index, value) in (document["arrayFilters"]?.arrayValue ?? []).enumerated() {
            guard let filter = value.documentValue else {
                throw CommandFailure(
                    .typeMismatch,
                    "BSON field 'update.updates.arrayFilters.\(index)' is the wrong type "
                        + "'\(value.type.alias)', expected type 'object'")
            }
            filters.append(filter)
        }
        return filters
    }
}

/// A statement of an `update` whose parts are parsed.
struct ParsedUpdate: Sendable {
    let filter: Filter
    let update: Update
    /// What is inserted when nothing matches, if the update does not make it.
    let supplied: Update?
    let sort: SortOrder?
    let isMulti: Bool
    let upserts: Bool
    let hint: BSONValue?

    /// Updates the matching documents.
    func run(on namespace: Namespace, _ transaction: WriteTransaction) throws -> UpdateResult {
        try transaction.take(hint: hint, namespace)
        defer { transaction.hint = nil }
        do throws(StoreError) {
            if supplied != nil { try Update.checkUpsert(filter) }
            let result = try apply(to: namespace, transaction)
            guard let supplied, result.matchedCount == 0 else { return result }
            // As in MongoDB, the query gives the `_id` that the document has not.
            return try transaction.updateOne(
                namespace, filter: filter, update: supplied, upsert: true)
        } catch {
            throw WriteBatch.failure(ofUpdate: error)
        }
    }

    private func apply(
        to namespace: Namespace, _ transaction: WriteTransaction
    ) throws(StoreError) -> UpdateResult {
        let upserts = upserts && supplied == nil
        if isMulti {
            return try transaction.updateMany(
                namespace, filter: filter, update: update, upsert: upserts, keepImages: false)
        }
        return try transaction.updateOne(
            namespace, filter: filter, update: update, upsert: upserts, sort: sort)
    }
}
