internal import BSONStore

/// Lists the commands.
enum ListCommandsCommand {
    /// Creates the command.
    ///
    /// - Parameter all: returns all commands.
    static func definition(
        listing all: @escaping @Sendable () -> [CommandDefinition]
    ) -> CommandDefinition {
        CommandDefinition(
            "listCommands", aliases: [], [.unauthenticated],
            fields: [:], required: [],
            privileges: .access(.read), underRules: .harmless, gateway: .here,
            statements: nil, cursor: .none,
            .server { _ in
                var commands = BSONDocument()
                for definition in all() where !definition.traits.contains(.testOnly) {
                    commands.append(
                        definition.name,
                        [
                            "help": .string(definition.help),
                            "requiresAuth": .bool(!definition.traits.contains(.unauthenticated)),
                            "secondaryOk": .bool(!definition.traits.contains(.writes)),
                            "adminOnly": .bool(definition.traits.contains(.adminOnly)),
                            "apiVersions": definition.traits.contains(.stable) ? ["1"] : [],
                        ])
                }
                return .reply(["commands": .document(commands)])
            })
    }
}
