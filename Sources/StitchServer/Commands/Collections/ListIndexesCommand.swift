internal import BSONStore

/// Lists the indexes of a collection.
enum ListIndexesCommand {
    static let definition = CommandDefinition(
        "listIndexes", aliases: [], [.stable, .checksReadPreference],
        fields: [
            "cursor": .document, "includeBuildUUIDs": .flag, "includeIndexBuildInfo": .flag,
            "isTimeseriesNamespace": .flag,
        ], required: [],
        privileges: .access(.read), underRules: .refused, gateway: .upstream,
        statements: nil, cursor: .opens, .store(run))

    private static func run(_ call: CommandCall, _ backend: StoreBackend) throws -> CommandOutcome {
        let namespace = try call.collection()
        let ruleGuard = try backend.rules.ruleGuard(call)
        let found = try backend.read(call) { transaction in
            guard let options = try transaction.options(namespace) else {
                throw CommandFailure(
                    .namespaceNotFound, "ns does not exist: \(namespace)")
            }
            guard options.view == nil else {
                throw StoreError.view(namespace)
            }
            let clustered = options.document["clusteredIndex"]?.documentValue
            return try transaction.indexes(namespace).map { index in
                guard var shown = clustered, index.name == "_id_" else {
                    return IndexEntry.document(index)
                }
                shown.append("clustered", true)
                return shown
            }
        }
        return try CursorReply.open(
            ListSource(found, knowsEnd: true), namespace, call, on: backend, under: ruleGuard,
            batchSize: try CursorArgument.batchSize(call))
    }
}
