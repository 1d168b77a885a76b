internal import BSONStore

/// Removes a collection.
enum DropCommand {
    static let rule = CommandRule(
        "drop", .catalog, fields: ["collectionUUID": .any, "encryptionInformation": .document],
        .store(run))

    private static func run(_ call: CommandCall, _ store: StoreBackend) throws -> CommandOutcome {
        let namespace = try call.collection()
        let (isThere, isView, indexes) = try store.write(call) { transaction in
            let isView = try transaction.options(namespace)?.view != nil
            let indexes = try transaction.indexes(namespace).count
            return (try transaction.dropCollection(namespace), isView, indexes)
        }
        store.cursors.kill(database: namespace.database, collection: namespace.collection)
        guard isThere else { return .ok }
        if isView { return .reply(["ns": .string(namespace.description)]) }
        return .reply([
            "nIndexesWas": .int32(Int32(indexes)), "ns": .string(namespace.description),
        ])
    }
}
