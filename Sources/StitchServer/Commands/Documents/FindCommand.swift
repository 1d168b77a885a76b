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
        let ruleGuard = try store.rules.ruleGuard(call)
        let wasLimited = isLimited(namespace, ruleGuard)
        let outcome = try find(namespace, call, store, ruleGuard)
        // A rule change may limit the view during the read only.
        guard case .reply(var reply) = outcome,
            try wasLimited || isLimited(namespace, store.rules.ruleGuard(call))
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
            return try store.isLasting && call.snapshot == nil && query.isPlain
                && transaction.isInInsertionOrder(namespace, query.filter, query.options)
        }
        let isSingle = call.flag("singleBatch")
        guard !isOpen else {
            return try CursorReply.open(
                RowSource(store.runner, namespace, query, isTailable: options.isTailable),
                namespace,
                call, on: store, under: ruleGuard, batchSize: batchSize, isSingle: isSingle,
                options: options)
        }
        var result = try result(call, store, namespace, query)
        let limit = query.options.limit
        let source = try result.source(
            knowsEnd: query.filter.asksForOneID || limit > 0 && result.count == limit)
        return try CursorReply.open(
            source, namespace, call, on: store, under: ruleGuard, batchSize: batchSize,
            isSingle: isSingle,
            options: options)
    }

    private static func result(
        _ call: CommandCall, _ store: StoreBackend, _ namespace: Namespace, _ query: FindQuery
    ) throws -> ResultCollector {
        try store.read(call) { transaction in
            let decoration = try FindResultFormat(call, query, namespace, transaction)
            var result = ResultCollector(store.spools, of: call.cursorOwner)
            do {
                try transaction.forEach(
                    namespace, filter: query.filter, options: decoration.options
                ) { document in
                    try call.checkTime()
                    try result.append(try decoration.shown(document))
                }
            } catch {
                throw CommandFailure.framed(error, "Executor error during find command")
            }
            return result
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
