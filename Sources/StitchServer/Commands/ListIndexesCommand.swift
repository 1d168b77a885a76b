internal import BSONStore

/// Lists the indexes of a collection.
enum ListIndexesCommand {
    static let rule = CommandRule(
        "listIndexes", [.stable],
        fields: [
            "cursor": .document, "includeBuildUUIDs": .flag, "includeIndexBuildInfo": .flag,
            "isTimeseriesNamespace": .flag,
        ], .store(run))

    private static func run(_ call: CommandCall, _ store: StoreBackend) throws -> CommandOutcome {
        let namespace = try call.collection()
        let found = try store.read(call) { transaction in
            guard try transaction.options(namespace) != nil else {
                throw CommandFault(
                    .namespaceNotFound, "ns does not exist: \(namespace)")
            }
            return try transaction.indexes(namespace).map(IndexEntry.document)
        }
        return try store.open(
            ListSource(found, knowsEnd: true), namespace, call,
            batchSize: try CursorArgument.batchSize(call))
    }
}
