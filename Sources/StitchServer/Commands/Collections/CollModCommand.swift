internal import BSONStore

/// Changes the options of a collection.
enum CollModCommand {
    static let definition = CommandDefinition(
        "collMod", aliases: [], .catalog,
        fields: nil, required: [],
        privileges: .definition(.databaseAdministration), underRules: .refused, gateway: .upstream,
        statements: nil, cursor: .none, .store(run))

    private static func run(_ call: CommandCall, _ store: StoreBackend) throws -> CommandOutcome {
        let namespace = try call.collection()
        return .reply(
            try store.write(call) { try $0.modifyCollection(namespace, call.body) })
    }
}
