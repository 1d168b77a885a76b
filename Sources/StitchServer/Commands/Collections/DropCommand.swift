internal import BSONStore

/// Removes a collection.
enum DropCommand {
    static let definition = CommandDefinition(
        "drop", aliases: [], .catalog,
        fields: ["collectionUUID": .any, "encryptionInformation": .document], required: [],
        privileges: .access(.collections), underRules: .refused, gateway: .upstream,
        statements: nil, cursor: .none, .store(run))

    private static func run(_ call: CommandCall, _ backend: StoreBackend) throws -> CommandOutcome {
        let namespace = try call.collection()
        let (isThere, isView, indexes, uuid) = try backend.write(call) { transaction in
            let isView = try transaction.options(namespace)?.view != nil
            let indexes = try transaction.indexes(namespace).count
            let uuid = try transaction.uuid(namespace)
            return (try transaction.dropCollection(namespace), isView, indexes, uuid)
        }
        guard isThere else { return .ok }
        backend.cursors.end([namespace: .dropped(uuid)])
        if isView { return .reply(["ns": .string(namespace.description)]) }
        return .reply([
            "nIndexesWas": .int32(Int32(indexes)), "ns": .string(namespace.description),
        ])
    }
}
