internal import BSONStore

/// Makes indexes.
enum CreateIndexesCommand {
    static let rule = CommandRule(
        "createIndexes", .catalog,
        fields: [
            "indexes": .array, "ignoreUnknownIndexOptions": .flag, "commitQuorum": .any,
            "v": .any, "isTimeseriesNamespace": .bool,
        ], required: ["indexes"], .store(run))

    private static func run(_ call: CommandCall, _ store: StoreBackend) throws -> CommandOutcome {
        let namespace = try call.collection()
        let specifications = try call.documents("indexes")
        guard !specifications.isEmpty else {
            throw CommandFault(
                .badValue, "Must specify at least one index to create")
        }
        let definitions = try specifications.map { try IndexDefinition($0) }
        return .reply(
            try store.write(call) { transaction in
                let isThere = try transaction.options(namespace) != nil
                let before = try transaction.indexes(namespace).count
                for definition in definitions {
                    try transaction.createIndex(namespace, definition)
                }
                return reply(
                    before: max(1, before), after: try transaction.indexes(namespace).count,
                    isNew: !isThere)
            })
    }

    private static func reply(before: Int, after: Int, isNew: Bool) -> BSONDocument {
        var reply: BSONDocument = [
            "numIndexesBefore": .int32(Int32(before)), "numIndexesAfter": .int32(Int32(after)),
            "createdCollectionAutomatically": .bool(isNew),
        ]
        if before == after, !isNew { reply.append("note", "all indexes already exist") }
        return reply
    }
}
