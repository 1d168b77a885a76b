internal import BSONStore

/// Changes the options of a collection.
enum CollModCommand {
    static let definition = CommandDefinition(
        "collMod", aliases: [], .catalog,
        fields: nil, required: [],
        privileges: .definition(.databaseAdministration), underRules: .refused, gateway: .upstream,
        statements: nil, cursor: .none, .store(run))

    private static func run(_ call: CommandCall, _ backend: StoreBackend) throws -> CommandOutcome {
        let namespace = try call.collection()
        return .reply(
            try backend.write(call) { try $0.modifyCollection(namespace, call.body) })
    }
}
