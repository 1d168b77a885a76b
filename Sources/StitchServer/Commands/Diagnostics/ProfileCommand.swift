internal import BSONStore

/// Records the commands on a database in its collection `system.profile`, if profiling is on.
///
/// Source: MongoDB manual, "profile".
enum ProfileCommand {
    static let rule = CommandDefinition(
        "profile", [],
        fields: ["slowms": .number, "sampleRate": .number, "filter": .any], .store(run))

    /// The size of the capped profile collection in bytes.
    private static let bytesMax = 1024 * 1024

    private static func run(_ call: CommandCall, _ store: StoreBackend) throws -> CommandOutcome {
        let before = call.server.state.withLock { $0.profiling[call.database] ?? 0 }
        if let level = call.target.wholeNumber, (0...2).contains(level) {
            let namespace = Namespace(call.database, "system.profile")
            if level > 0 {
                try store.write(call) { transaction in
                    guard try transaction.options(namespace) == nil else { return }
                    try transaction.createCollection(
                        namespace,
                        CollectionOptions(
                            ["capped": true, "size": .int32(Int32(bytesMax))]))
                }
            }
            call.server.state.withLock { $0.profiling[call.database] = level }
        }
        return .reply([
            "was": .int32(Int32(before)), "slowms": 100, "sampleRate": 1.0,
        ])
    }
}

extension StoreBackend {
    /// The operation types of profiled commands, by MongoDB's names.
    private static let profiled: [String: String] = [
        "aggregate": "command", "count": "command", "delete": "remove", "distinct": "command",
        "find": "query", "findAndModify": "command", "getMore": "getmore", "insert": "insert",
        "killCursors": "killcursors", "mapReduce": "command", "update": "update",
    ]

    /// Records a finished command if its database is profiled.
    ///
    /// - Throws: the errors of the store.
    func profile(_ call: CommandCall, since start: ContinuousClock.Instant) throws {
        guard let kind = Self.profiled[call.name], call.transaction?.isTransaction != true,
            call.server.state.withLock({ $0.profiling[call.database] == 2 })
        else { return }
        let collection = call.string("collection") ?? call.target.stringValue ?? "$cmd.aggregate"
        var command = BSONDocument()
        for (key, value) in call.body where key != "lsid" && key != "$clusterTime" {
            command.append(key, value)
        }
        let entry: BSONDocument = [
            "op": .string(kind), "ns": .string("\(call.database).\(collection)"),
            "command": .document(command), "numYield": 0,
            "millis": .int32(Int32(clamping: (ContinuousClock.now - start).milliseconds)),
            "ts": .datetime(.now), "client": .string(call.connection.peer),
            "allUsers": [], "user": "",
        ]
        try store.write { transaction in
            _ = try transaction.insert(Namespace(call.database, "system.profile"), entry)
        }
    }
}
