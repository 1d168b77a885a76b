internal import BSONStore

/// The commands recorded in the collections `system.profile`.
enum ProfileLog {
    /// The operation types of profiled commands, by MongoDB's names.
    private static let profiled: [String: String] = [
        "aggregate": "command", "count": "command", "delete": "remove", "distinct": "command",
        "find": "query", "findAndModify": "command", "getMore": "getmore", "insert": "insert",
        "killCursors": "killcursors", "mapReduce": "command", "update": "update",
    ]

    /// Records a finished command if its database is profiled.
    ///
    /// - Throws: the errors of the store.
    static func note(
        _ call: CommandCall, since start: ContinuousClock.Instant, in store: DocumentStore,
        _ turn: WriteTurn
    ) throws {
        guard let kind = profiled[call.name], call.transaction?.isTransaction != true,
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
        try turn.write(store) { transaction in
            _ = try transaction.insert(Namespace(call.database, "system.profile"), entry)
        }
    }
}
