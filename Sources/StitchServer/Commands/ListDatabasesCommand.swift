internal import BSONStore

/// Lists the databases.
enum ListDatabasesCommand {
    static let rule = CommandRule(
        "listDatabases", [.adminOnly, .stable],
        fields: ["filter": .document, "nameOnly": .flag, "authorizedDatabases": .flag],
        .store(run))

    private static func run(_ call: CommandCall, _ store: StoreBackend) throws -> CommandOutcome {
        let filter = try Filter(call.document("filter") ?? [:])
        let isNameOnly = call.flag("nameOnly")
        let user = call.connection.state.withLock { $0.user }
        let all = try store.read(call) {
            try $0.listDatabases(filter: filter, nameOnly: isNameOnly)
        }
        // Others than those who may read a database do not learn that it is there.
        let found = all.filter { database in
            guard call.server.settings.requiresSignIn else { return true }
            let name = database["name"]?.stringValue ?? ""
            return user?.has(.read, on: name) ?? false
                || user?.has(.databaseAdministration, on: name) ?? false
        }
        var reply: BSONDocument = [
            "databases": .array(BSONArray(found.map { .document($0) }))
        ]
        if !isNameOnly {
            let size = found.first?["sizeOnDisk"]?.int64Value ?? 0
            reply.append("totalSize", .int64(size))
            reply.append("totalSizeMb", .int64(size / (1024 * 1024)))
        }
        return .reply(reply)
    }
}
