internal import BSONStore

/// Lists the collections and views of a database.
enum ListCollectionsCommand {
    static let definition = CommandDefinition(
        "listCollections", aliases: [], [.stable, .checksReadPreference],
        fields: [
            "filter": .document, "nameOnly": .flag, "cursor": .document,
            "authorizedCollections": .flag, "includePendingDrops": .flag,
        ], required: [],
        privileges: .access(.read), underRules: .reads(.collections), gateway: .upstream,
        statements: nil, cursor: .opens, .store(run))

    private static func run(_ call: CommandCall, _ backend: StoreBackend) throws -> CommandOutcome {
        let filter = try Filter(call.document("filter") ?? [:], options: .ofListing)
        let ruleGuard = try backend.rules.ruleGuard(call)
        let found = try backend.read(call) {
            try $0.listCollections(
                call.database, filter: filter, nameOnly: call.flag("nameOnly"))
        }
        return try CursorReply.open(
            ListSource(found, knowsEnd: true), Namespace(call.database, "$cmd.listCollections"),
            call, on: backend, under: ruleGuard, batchSize: try CursorArgument.batchSize(call))
    }
}

/// The argument `cursor` of commands that return one.
enum CursorArgument {
    /// Returns the size of the first batch; `nil` for the default.
    ///
    /// - Throws: 40415, 2 (BadValue) for a negative size.
    static func batchSize(_ call: CommandCall) throws(CommandFailure) -> Int? {
        guard let cursor = call.document("cursor") else { return nil }
        let name = call.name == "aggregate" ? "cursor" : "\(call.name).cursor"
        try CommandSchema(fields: ["batchSize": .number], required: [])
            .check(cursor, named: name)
        guard let size = cursor["batchSize"]?.wholeNumber else { return nil }
        guard size >= 0 else {
            throw CommandFailure(
                .badValue, "BSON field 'batchSize' value must be >= 0, actual value '\(size)'")
        }
        return size
    }
}
