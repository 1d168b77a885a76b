internal import BSONStore

/// Succeeds without effect: the server caches no plans.
///
/// Source: MongoDB manual, "planCacheClear"; the server's `plan_cache_clear_command.cpp`.
enum PlanCacheClearCommand {
    static let definition = CommandDefinition(
        "planCacheClear", aliases: [], [],
        fields: [
            "query": .document, "sort": .document, "projection": .document,
            "collation": .document,
        ], required: [],
        privileges: .access(.databaseAdministration), underRules: .refused, gateway: .upstream,
        statements: nil, cursor: .none, .store(run))

    private static func run(_ call: CommandCall, _ backend: StoreBackend) throws -> CommandOutcome {
        let namespace = try call.collection()
        guard try backend.read(call, { try $0.options(namespace) }) != nil else { return .ok }
        if let query = call.document("query") {
            _ = try CommandCall.filter(query, variables: nil, collation: call["collation"])
            return .ok
        }
        guard call["sort"] == nil, call["projection"] == nil, call["collation"] == nil else {
            throw CommandFailure(
                .badValue, "sort, projection, or collation provided without query")
        }
        return .ok
    }
}
