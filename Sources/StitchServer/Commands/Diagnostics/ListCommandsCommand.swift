internal import BSONStore

/// Lists the commands.
enum ListCommandsCommand {
    /// Creates the command.
    ///
    /// - Parameter rules: returns all commands.
    static func rule(
        listing rules: @escaping @Sendable () -> [CommandDefinition]
    ) -> CommandDefinition {
        CommandDefinition(
            "listCommands", [.unauthenticated], fields: [:],
            .server { _ in
                var commands = BSONDocument()
                for rule in rules() where !rule.traits.contains(.testOnly) {
                    commands.append(
                        rule.name,
                        [
                            "help": "",
                            "requiresAuth": .bool(!rule.traits.contains(.unauthenticated)),
                            "secondaryOk": .bool(!rule.traits.contains(.writes)),
                            "adminOnly": .bool(rule.traits.contains(.adminOnly)),
                            "apiVersions": rule.traits.contains(.stable) ? ["1"] : [],
                        ])
                }
                return .reply(["commands": .document(commands)])
            })
    }
}
