internal import BSONStore

/// Lists the databases.
enum ListDatabasesCommand {
    static let definition = CommandDefinition(
        "listDatabases", aliases: [], [.adminOnly, .stable, .checksReadPreference],
        fields: ["filter": .document, "nameOnly": .flag, "authorizedDatabases": .flag],
        required: [],
        privileges: .access(.signedIn), underRules: .reads(.databases), gateway: .upstream,
        statements: nil, cursor: .none, .store(run))

    private static func run(_ call: CommandCall, _ backend: StoreBackend) throws -> CommandOutcome {
        let filter = try Filter(call.document("filter") ?? [:], options: .ofListing)
        let isNameOnly = call.flag("nameOnly")
        let user = call.connection.state.withLock { $0.user }
        let all = Self.withOwn(try backend.read(call) { try $0.listDatabases() })
        // Only users with a role on a database learn that it exists.
        let open = all.filter { database in
            guard call.server.settings.requiresSignIn else { return true }
            let name = database["name"]?.stringValue ?? ""
            return user?.hasRole(.read, on: name) ?? false
                || user?.hasRole(.databaseAdministration, on: name) ?? false
        }
        let shown = try open.map { database -> BSONDocument in
            isNameOnly ? ["name": database["name"] ?? .null] : database
        }.filter { try filter.evaluate($0) }
        var reply: BSONDocument = ["databases": .array(BSONArray(shown.map { .document($0) }))]
        if !isNameOnly {
            // All databases share one file.
            let size = shown.compactMap { $0["sizeOnDisk"]?.int64Value }.max() ?? 0
            reply.append("totalSize", .int64(size))
            reply.append("totalSizeMb", .int64(size / (1024 * 1024)))
        }
        return .reply(reply)
    }

    /// Adds the databases that every server has.
    private static func withOwn(_ databases: [BSONDocument]) -> [BSONDocument] {
        let own = ["admin", "config", "local"].filter { name in
            !databases.contains { $0["name"] == .string(name) }
        }
        let missing = own.map { name -> BSONDocument in
            ["name": .string(name), "sizeOnDisk": .int64(0), "empty": false]
        }
        return (databases + missing).sorted {
            ($0["name"]?.stringValue ?? "").bytesPrecede($1["name"]?.stringValue ?? "")
        }
    }
}
