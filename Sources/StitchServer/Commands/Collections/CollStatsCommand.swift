internal import BSONStore

/// Reports the size of a collection.
///
/// Source: MongoDB manual, "collStats".
enum CollStatsCommand {
    static let definition = CommandDefinition(
        "collStats", aliases: ["collstats"], [.checksReadPreference],
        fields: ["scale": .number, "verbose": .any], required: [],
        privileges: .access(.read), underRules: .refused, gateway: .upstream,
        statements: nil, cursor: .none, .store(run))

    private static func run(_ call: CommandCall, _ backend: StoreBackend) throws -> CommandOutcome {
        let namespace = try call.collection()
        let scale = try StatsScale(call)
        return .reply(
            try backend.read(call) { transaction in
                let options = try transaction.options(namespace)
                guard options?.view == nil else {
                    throw StoreError.view(namespace)
                }
                let usage = try CollectionUsage(namespace, transaction)
                var reply: BSONDocument = [
                    "ns": .string(namespace.description), "size": scale.value(usage.bytes),
                    "count": .int32(Int32(clamping: usage.count)),
                ]
                if usage.count > 0 {
                    reply.append("avgObjSize", .int32(Int32(clamping: usage.bytes / usage.count)))
                }
                let capped = options?.capped
                for (key, value) in [
                    ("numOrphanDocs", 0), ("storageSize", scale.value(usage.bytes)),
                    ("freeStorageSize", 0), ("capped", .bool(capped != nil)),
                ] as [(String, BSONValue)] { reply.append(key, value) }
                if let capped {
                    reply.append("max", .int64(capped.documentsMax ?? 0))
                    reply.append("maxSize", .int64(capped.bytesMax / Int64(scale.factor)))
                }
                usage.addIndexes(to: &reply, scale)
                return reply
            })
    }
}
