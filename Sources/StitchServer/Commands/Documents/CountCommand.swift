internal import BSONStore

/// Counts documents.
enum CountCommand {
    static let rule = CommandDefinition(
        "count", [.stable, .takesReadConcern],
        fields: [
            "query": .document, "limit": .number, "skip": .number, "hint": .hint,
            "collation": .document, "fields": .any, "queryOptions": .document,
            "collectionUUID": .any, "encryptionInformation": .document, "mirrored": .bool,
        ], .store(run))

    private static func run(_ call: CommandCall, _ store: StoreBackend) throws -> CommandOutcome {
        let namespace = try call.collection()
        let filter = try CommandCall.filter(
            call.document("query"), variables: nil, collation: call["collation"])
        let skip = try call.count("skip") ?? 0
        let limit = limit(call)
        var found = try store.read(call) { transaction in
            try CommandCall.checkHint(call["hint"], namespace, in: transaction)
            return try transaction.count(
                namespace, filter: filter, hint: try call.hint())
        }
        found = max(0, found - skip)
        if limit > 0 { found = min(found, limit) }
        return .reply(["n": .int32(Int32(clamping: found))])
    }

    /// Returns the maximum count; a negative number counts as its absolute value.
    static func limit(_ call: CommandCall) -> Int {
        Int(clamping: call.number("limit")?.magnitude ?? 0)
    }
}
