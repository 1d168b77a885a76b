internal import BSONStore

/// Succeeds without effect: the store keeps indexes current.
enum ReIndexCommand {
    static let definition = CommandDefinition(
        "reIndex", aliases: [], [.writes],
        fields: [:], required: [],
        privileges: .access(.databaseAdministration), underRules: .refused, gateway: .upstream,
        statements: nil, cursor: .none,
        .store { call, backend in
            let namespace = try call.collection()
            let indexes = try backend.read(call) { transaction in
                guard try transaction.options(namespace) != nil else {
                    throw CommandFailure(.namespaceNotFound, "collection does not exist.")
                }
                return try transaction.indexes(namespace)
            }
            return .reply([
                "nIndexesWas": .int32(Int32(indexes.count)),
                "nIndexes": .int32(Int32(indexes.count)),
                "indexes": .array(BSONArray(indexes.map { .document($0.document) })),
            ])
        })
}
