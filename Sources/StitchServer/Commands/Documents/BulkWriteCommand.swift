internal import BSONStore

/// Runs writes of several kinds on several collections.
///
/// Source: MongoDB manual 8.0, "bulkWrite"; the server's `bulk_write.idl`.
enum BulkWriteCommand {
    static let definition = CommandDefinition(
        "bulkWrite", aliases: [],
        [.adminOnly, .writes, .inTransaction, .retryable, .takesWriteConcern],
        fields: [
            "ops": .array, "nsInfo": .array, "ordered": .flag, "errorsOnly": .flag,
            "bypassDocumentValidation": .flag, "let": .document, "cursor": .document,
            "stmtId": .number, "stmtIds": .array, "bypassEmptyTsReplacement": .bool,
        ], required: ["ops", "nsInfo"],
        privileges: .arguments(orElse: .write), underRules: .writes,
        gateway: .upstream,
        statements: .mixed, cursor: .none,
        .parsed { call, _ in
            let parsed = Result<[Namespace], any Error> { try namespaces(call) }
            let needs = parsed.map { $0.map { AccessNeed(.write, to: $0) } }
            return ParsedCommand(needs: needs.value ?? [], fault: parsed.fault) {
                try run(parsed.get(), call, $0)
            }
        })

    /// Reads the target collections.
    ///
    /// - Throws: 40414, 14 and 73 for invalid entries.
    static func namespaces(_ call: CommandCall) throws(CommandFailure) -> [Namespace] {
        try call.documents("nsInfo").map { (document) throws(CommandFailure) in
            guard let name = document["ns"]?.stringValue else {
                throw CommandFailure(
                    40414,
                    "BSON field 'bulkWrite.nsInfo.ns' is missing but a required field")
            }
            do throws(StoreError) {
                return try Namespace(parsing: name)
            } catch {
                throw CommandFailure(error)
            }
        }
    }

    private static func run(
        _ namespaces: [Namespace], _ call: CommandCall, _ backend: StoreBackend
    ) throws -> CommandOutcome {
        for namespace in namespaces { try TransactionScope.checkWrite(to: namespace, call) }
        let operations = try call.documents("ops").map { try BulkOperation($0, namespaces) }
        let ruleGuard = try backend.rules.ruleGuard(call)
        try WriteBatch.checkCount(operations.count)
        let hasVariables = call["let"] != nil
        let quick = operations.map { !hasVariables && $0.isQuick }
        let done = try backend.runner.reply(call) { transaction in
            var tally = BulkTally(showsErrorsOnly: call.flag("errorsOnly"))
            try WriteBatch.run(
                operations.count, isOrdered: call["ordered"]?.isTrue ?? true, transaction,
                isQuick: { quick[$0] }
            ) { index in
                try call.checkTime()
                backend.runner.begin(statement: index, in: transaction)
                // As in MongoDB, each write has its own `$$CLUSTER_TIME`. A gateway's clock is that
                // of its upstream.
                let time =
                    backend.isLasting
                    ? CommandTime(clusterTime: backend.server.clock.advance()) : call.time
                return try CommandTime.$current.withValue(time) {
                    try operations[index].run(transaction, call)
                }
            } take: { index, result in
                tally.add(result, of: operations[index], at: index)
            }
            return tally.document
        }
        let namespace = Namespace("admin", "$cmd.bulkWrite")
        let outcome = try CursorReply.open(
            ListSource(
                (done["entries"]?.arrayValue ?? []).compactMap(\.documentValue), knowsEnd: true),
            namespace, call, on: backend, under: ruleGuard,
            batchSize: try CursorArgument.batchSize(call) ?? .max)
        guard case .reply(var reply) = outcome else { return outcome }
        for (key, value) in done where key != "entries" { reply.append(key, value) }
        return .reply(reply)
    }
}

/// One write of a `bulkWrite`.
private struct BulkOperation: Sendable {
    private enum Kind: Sendable {
        case insert(BSONDocument)
        case update(UpdateStatement)
        case delete(DeleteStatement)
    }

    private static let insertion = CommandSchema(
        fields: ["insert": .number, "document": .document], required: ["document"])

    private let namespace: Namespace
    private let kind: Kind

    init(_ document: BSONDocument, _ namespaces: [Namespace]) throws {
        guard let (name, value) = document.first(where: { _ in true }),
            ["insert", "update", "delete"].contains(name)
        else {
            throw CommandFailure(
                .failedToParse,
                "BulkWriteOperation must be one of 'insert', 'update', 'delete'")
        }
        guard let place = value.wholeNumber else {
            throw CommandFailure(
                .typeMismatch,
                "BSON field 'bulkWrite.ops.\(name)' is the wrong type '\(value.type.alias)', "
                    + "expected type 'int'")
        }
        guard namespaces.indices.contains(place) else {
            throw CommandFailure(
                .badValue, "BulkWrite ops entry \(name) has an invalid nsInfo index.")
        }
        namespace = namespaces[place]
        switch name {
        case "insert":
            try Self.insertion.check(document, named: "bulkWrite.ops")
            kind = .insert(document["document"]?.documentValue ?? [:])
        case "update": kind = .update(try UpdateStatement(bulk: document))
        default: kind = .delete(try DeleteStatement(bulk: document))
        }
    }

    /// Whether the write concerns one document, which it finds by its key.
    var isQuick: Bool {
        switch kind {
        case .insert: true
        case .update(let statement): statement.isQuick
        case .delete(let statement): statement.isQuick
        }
    }

    /// Whether a failure tells that nothing was modified, as the result of an update does.
    var isUpdate: Bool { if case .update = kind { true } else { false } }

    func run(_ transaction: WriteTransaction, _ call: CommandCall) throws -> BulkOutcome {
        try namespace.checkWritable()
        let variables = call.document("let")
        let keepsEmptyTimestamps = call.flag("bypassEmptyTsReplacement")
        switch kind {
        case .insert(let document):
            try transaction.insert(
                namespace,
                keepsEmptyTimestamps ? document : WallClock.fillingTimestamps(in: document))
            return BulkOutcome(kind: "nInserted", count: 1)
        case .update(let statement):
            let outcome = try statement.parsed(
                variables: variables, keepsEmptyTimestamps: keepsEmptyTimestamps
            ).run(on: namespace, transaction)
            return BulkOutcome(
                kind: "nMatched", count: outcome.matchedCount, modified: outcome.modifiedCount,
                upsertedID: outcome.upsertedID)
        case .delete(let statement):
            let statement = try statement.parsed(variables: variables)
            return BulkOutcome(
                kind: "nDeleted", count: try statement.run(on: namespace, transaction))
        }
    }
}

/// The result of one write.
private struct BulkOutcome: Sendable {
    var kind = ""
    var count = 0
    var modified: Int?
    var upsertedID: BSONValue?
}

/// The summed results of a command.
private struct BulkTally: Sendable {
    let showsErrorsOnly: Bool
    private(set) var entries: [BSONDocument] = []
    private var counts: [String: Int] = [:]
    private var room = WriteErrorRoom()

    init(showsErrorsOnly: Bool) { self.showsErrorsOnly = showsErrorsOnly }

    /// The results as stored for a retry of the command.
    var document: BSONDocument {
        var document: BSONDocument = [
            "entries": .array(BSONArray(entries.map(BSONValue.document)))
        ]
        for key in ["nErrors", "nInserted", "nMatched", "nModified", "nUpserted", "nDeleted"] {
            document.append(key, .int32(Int32(clamping: counts[key] ?? 0)))
        }
        return document
    }

    mutating func add(
        _ result: Result<BulkOutcome, CommandFailure>, of operation: BulkOperation, at index: Int
    ) {
        let outcome: BulkOutcome
        switch result {
        case .failure(let fault):
            counts["nErrors", default: 0] += 1
            var entry = room.fitted(fault.bulkWriteError(at: index))
            if operation.isUpdate { entry.append("nModified", 0) }
            entries.append(entry)
            return
        case .success(let done): outcome = done
        }
        counts[outcome.kind, default: 0] += outcome.count
        counts["nModified", default: 0] += outcome.modified ?? 0
        let n = outcome.count + (outcome.upsertedID == nil ? 0 : 1)
        var entry: BSONDocument = [
            "ok": 1.0, "idx": .int32(Int32(clamping: index)), "n": .int32(Int32(clamping: n)),
        ]
        if let modified = outcome.modified {
            entry.append("nModified", .int32(Int32(clamping: modified)))
        }
        if let id = outcome.upsertedID {
            counts["nUpserted", default: 0] += 1
            entry.append("upserted", ["_id": id])
        }
        if !showsErrorsOnly { entries.append(entry) }
    }
}
