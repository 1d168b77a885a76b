internal import BSONStore

/// Reads the rules from their folder again.
enum ReloadRulesCommand {
    static let rule = CommandDefinition("reloadRules", [.adminOnly], fields: [:], .server(run))

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
