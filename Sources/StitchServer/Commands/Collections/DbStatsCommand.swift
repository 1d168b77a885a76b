internal import BSONStore

/// Reports the size of a database.
///
/// Source: MongoDB manual, "dbStats".
enum DbStatsCommand {
    static let definition = CommandDefinition(
        "dbStats", aliases: ["dbstats"], [.checksReadPreference],
        fields: ["scale": .number, "freeStorage": .any], required: [],
        privileges: .access(.read), underRules: .refused, gateway: .upstream,
        statements: nil, cursor: .none, .store(run))

    private static func run(_ call: CommandCall, _ backend: StoreBackend) throws -> CommandOutcome {
        let scale = try StatsScale(call)
        return .reply(
            try backend.read(call) { transaction in
                var (collections, views) = (0, 0)
                var (count, bytes, indexes, indexBytes) = (0, 0, 0, 0)
                for namespace in try transaction.collections()
                where namespace.database.hasSameBytes(as: call.database) {
                    guard try transaction.options(namespace)?.view == nil else {
                        views += 1
                        continue
                    }
                    collections += 1
                    let usage = try CollectionUsage(namespace, transaction)
                    count += usage.count
                    bytes += usage.bytes
                    indexes += usage.indexes.count
                    indexBytes += usage.indexBytes * usage.indexes.count
                }
                let average = count == 0 ? 0 : Double(bytes) / Double(count)
                return [
                    "db": .string(call.database), "collections": .int64(Int64(collections)),
                    "views": .int64(Int64(views)), "objects": .int64(Int64(count)),
                    "avgObjSize": .double(average), "dataSize": scale.double(bytes),
                    "storageSize": scale.double(bytes), "indexes": .int64(Int64(indexes)),
                    "indexSize": scale.double(indexBytes),
                    "totalSize": scale.double(bytes + indexBytes),
                    "scaleFactor": .int64(Int64(scale.factor)), "fsUsedSize": 0.0,
                    "fsTotalSize": 0.0,
                ]
            })
    }
}

extension StatsScale {
    func double(_ bytes: Int) -> BSONValue { .double(Double(bytes / factor)) }
}
