internal import BSONStore

/// Reads the rules from their folder again.
enum ReloadRulesCommand {
    static let definition = CommandDefinition(
        "reloadRules", aliases: [], [.adminOnly],
        fields: [:], required: [],
        privileges: .access(.clusterAdministration), underRules: .refused, gateway: .here,
        statements: nil, cursor: .none, .server(run))

    private static func run(_ call: CommandCall) throws -> CommandOutcome {
        guard let book = call.server.settings.rules else {
            throw CommandFailure(72, "The server was started without --rules")
        }
        do {
            let isChanged = try book.reload()
            return .reply(["changed": .bool(isChanged)])
        } catch {
            throw CommandFailure(72, "The rules were not changed: \(error)")
        }
    }
}
