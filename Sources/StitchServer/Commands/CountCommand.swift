internal import BSONStore

/// Counts documents.
enum CountCommand {
    static let rule = CommandRule(
        "count", [.stable, .takesReadConcern],
        fields: [
            "query": .document, "limit": .number, "skip": .number, "hint": .hint,
            "collation": .document, "fields": .any, "queryOptions": .document,
            "collectionUUID": .any, "encryptionInformation": .document, "mirrored": .bool,
        ], .store(run))

    private static func run(_ call: CommandCall, _ store: StoreBackend) throws -> CommandOutcome {
        let namespace = try call.collection()
        let filter = try Filter(
            call.document("query") ?? [:], variables: nil, collation: try call.collation(),
            now: .now)
        let skip = try call.count("skip") ?? 0
        let limit = call.number("limit").map { $0 == .min ? .max : abs($0) } ?? 0
        var found = try store.read(call) { transaction in
            try transaction.checkHint(call["hint"], namespace)
            return try transaction.count(namespace, filter: filter)
        }
        found = max(0, found - skip)
        if limit > 0 { found = min(found, limit) }
        return .reply(["n": .int32(Int32(clamping: found))])
    }
}
