internal import BSONStore
internal import StitchRules

/// Finds documents.
///
/// Source: MongoDB manual, "find"; the server's `find_command.idl`.
enum FindCommand {
    static let definition = CommandDefinition(
        "find", aliases: [], [.read, .takesSnapshot, .readsServerCollection],
        fields: fields, required: [],
        privileges: .access(.read), underRules: .reads(.documents), gateway: .upstream,
        statements: nil, cursor: .opens, .store(run))

    static let fields: [String: FieldKind] = [
        "filter": .document, "projection": .document, "sort": .document, "hint": .hint,
        "skip": .number, "limit": .number, "batchSize": .number, "singleBatch": .flag,
        "allowDiskUse": .bool, "min": .document, "max": .document, "returnKey": .flag,
        "showRecordId": .flag, "tailable": .flag, "oplogReplay": .flag, "awaitData": .flag,
        "noCursorTimeout": .flag, "allowPartialResults": .flag, "mirrored": .bool,
        "collation": .document, "let": .document, "term": .number, "options": .number,
        "querySettings": .document, "includeQueryStatsMetrics": .flag,
        "readOnce": .bool, "collectionUUID": .any,
    ]

    /// The reply's field for a query in which rules may hide documents, whether they do or not.
    ///
    /// In such a reply a missing document proves nothing.
    private static let viewIsLimited = "viewIsLimited"

    private static let executionError = "Executor error during find command"

    /// The request of a command.
    private struct Request {
        let namespace: Namespace
        let query: FindQuery
        let batchSize: Int?
        let cursor: CursorOptions

        /// - Throws: the errors of the arguments.
        init(_ call: CommandCall) throws {
            namespace = try call.collection()
            query = try FindQuery(call)
            batchSize = try call.count("batchSize")
            cursor = try FindCommand.options(call, query)
        }
    }

    /// The result of the transaction of a command.
    private enum Found {
        /// The documents, all of which the transaction read.
        case documents(ResultCollector)
        /// No documents yet: the cursor reads them, in transactions of its own, by the query as
        /// its plan completed it.
        case leftToCursor(FindQuery)
    }

    private static func run(_ call: CommandCall, _ backend: StoreBackend) throws -> CommandOutcome {
        let namespace = try call.collection()
        // Only for the checks here and for the cursor: `backend.read` applies the rules to what is read.
        let ruleGuard = try backend.rules.ruleGuard(call)
        if let ruleGuard { try checkSubscription(call, namespace, ruleGuard) }
        let wasLimited = isLimited(namespace, ruleGuard)
        let outcome = try find(Request(call), call, backend, ruleGuard)
        // A rule change may limit the view during the read only.
        return limited(
            outcome, try wasLimited || isLimited(namespace, backend.rules.ruleGuard(call)))
    }

    /// Checks that a request for the documents of a subscription uses only queryable fields.
    private static func checkSubscription(
        _ call: CommandCall, _ namespace: Namespace, _ ruleGuard: RuleAccessPolicy
    ) throws {
        guard call.body["comment"]?.stringValue == QueryableFields.comment else { return }
        try QueryableFields(ruleGuard, namespace)?.check(call.document("filter") ?? [:])
    }

    private static func isLimited(_ namespace: Namespace, _ ruleGuard: RuleAccessPolicy?) -> Bool {
        ruleGuard?.access(namespace).seesAll == false
    }

    private static func limited(_ outcome: CommandOutcome, _ isLimited: Bool) -> CommandOutcome {
        guard isLimited, case .reply(var reply) = outcome else { return outcome }
        reply.append(viewIsLimited, true)
        return .reply(reply)
    }

    private static func find(
        _ request: Request, _ call: CommandCall, _ backend: StoreBackend,
        _ ruleGuard: RuleAccessPolicy?
    ) throws -> CommandOutcome {
        let (namespace, query) = (request.namespace, request.query)
        let isTailable = request.cursor.isTailable
        let found = try backend.read(call) { transaction -> Found in
            if try transaction.isView(namespace) {
                try transaction.checkCollation(call.document("collation"), of: namespace)
                try QueryOptionsCheck.checkOfView(call)
            }
            if isTailable { try checkTailable(namespace, transaction) }
            let format = try FindResultFormat(call, query, namespace, transaction)
            let planned = try transaction.planned(namespace, query.filter, format.options)
            let isLeftToCursor =
                try backend.isLasting && call.snapshot == nil && query.isPlain
                && transaction.isInInsertionOrder(planned)
            if isLeftToCursor { return .leftToCursor(FindQuery(planned, of: query)) }
            return .documents(try result(call, backend, planned, format, transaction))
        }
        switch found {
        case .documents(var result):
            return try open(&result, request, call, on: backend, under: ruleGuard)
        case .leftToCursor(let query):
            return try open(
                RowSource(
                    backend.runner, namespace, query, isTailable: isTailable,
                    holding: call.heldQueryBytes), request, call,
                on: backend, under: ruleGuard)
        }
    }

    private static func open(
        _ result: inout ResultCollector, _ request: Request, _ call: CommandCall,
        on backend: StoreBackend, under ruleGuard: RuleAccessPolicy?
    ) throws -> CommandOutcome {
        let (filter, limit) = (request.query.filter, request.query.options.limit)
        let source = try result.source(
            knowsEnd: filter.isDeterminedByID || limit > 0 && result.count == limit)
        return try open(source, request, call, on: backend, under: ruleGuard)
    }

    private static func open(
        _ source: some CursorSource, _ request: Request, _ call: CommandCall,
        on backend: StoreBackend, under ruleGuard: RuleAccessPolicy?
    ) throws -> CommandOutcome {
        try CursorReply.open(
            source, request.namespace, call, on: backend, under: ruleGuard,
            batchSize: request.batchSize, isSingle: call.flag("singleBatch"),
            options: request.cursor)
    }

    private static func result(
        _ call: CommandCall, _ backend: StoreBackend, _ query: PlannedQuery,
        _ format: FindResultFormat, _ transaction: ReadTransaction
    ) throws -> ResultCollector {
        var result = ResultCollector(backend.spools, of: call.cursorOwner)
        do {
            try transaction.forEach(query) { document in
                try call.checkTime()
                try result.append(try format.shown(document))
            }
        } catch {
            throw CommandFailure.framed(error, executionError)
        }
        return result
    }

    private static func options(
        _ call: CommandCall, _ query: FindQuery
    ) throws(CommandFailure) -> CursorOptions {
        let options = CursorOptions(
            noTimeout: call.flag("noCursorTimeout"), isTailable: call.flag("tailable"),
            awaitsData: call.flag("awaitData"), hasTimeLimit: call.deadline != nil)
        if options.isTailable, call.transaction?.isTransaction == true {
            throw CommandFailure(
                .invalidOptions, "Tailable cursors are not allowed in a multi-document transaction")
        }
        if call.flag("readOnce"), call.transaction?.isTransaction == true {
            throw CommandFailure(
                .operationNotSupportedInTransaction,
                "The 'readOnce' option is not supported within a transaction.")
        }
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
