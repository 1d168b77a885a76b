internal import BSONStore

/// Counts documents.
enum CountCommand {
    static let definition = CommandDefinition(
        "count", aliases: [], [.stable, .takesReadConcern, .readsServerCollection],
        fields: [
            "query": .document, "limit": .number, "skip": .number, "hint": .hint,
            "collation": .document, "fields": .any, "queryOptions": .document,
            "collectionUUID": .any, "encryptionInformation": .document, "mirrored": .bool,
        ], required: [],
        privileges: .access(.read), underRules: .reads(.documents), gateway: .upstream,
        statements: nil, cursor: .none, .store(run))

    private static func run(_ call: CommandCall, _ backend: StoreBackend) throws -> CommandOutcome {
        let namespace = try call.collection()
        let filter = try CommandCall.filter(
            call.document("query"), variables: nil, collation: call["collation"], hasNow: false)
        let skip = try call.count("skip") ?? 0
        let found = try backend.read(call) { transaction in
            try transaction.checkCollation(call.document("collation"), of: namespace)
            // A pipeline counts the documents of a view.
            if call.number("limit") == 0, try transaction.isView(namespace) {
                throw CommandFailure(15958, "the limit must be positive")
            }
            try CommandCall.checkHint(call["hint"], namespace, in: transaction)
            let end = FindOptions.end(skip: skip, limit: limit(call)) ?? 0
            return try transaction.count(
                namespace, filter: filter, hint: try call.hint(), limit: end)
        }
        return .reply(["n": .int32(Int32(clamping: shown(found, skip: skip, call)))])
    }

    /// Returns the count that a command shows for a number of matching documents.
    static func shown(_ found: Int, skip: Int, _ call: CommandCall) -> Int {
        let rest = max(0, found - skip)
        let limit = limit(call)
        return limit > 0 ? min(rest, limit) : rest
    }

    /// Returns the maximum count; a negative number counts as its absolute value.
    static func limit(_ call: CommandCall) -> Int {
        Int(clamping: call.number("limit")?.magnitude ?? 0)
    }
}
