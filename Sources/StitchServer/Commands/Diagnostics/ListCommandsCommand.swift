internal import BSONStore

/// Lists the commands.
enum ListCommandsCommand {
    static let rule = CommandDefinition(
        "listCommands", [.unauthenticated], fields: [:],
        .server { call in
            var commands = BSONDocument()
            for rule in CommandTable.rules where !rule.traits.contains(.testOnly) {
                commands.append(
                    rule.name,
                    [
                        "help": "", "requiresAuth": .bool(!rule.traits.contains(.unauthenticated)),
                        "secondaryOk": .bool(!rule.traits.contains(.writes)),
                        "adminOnly": .bool(rule.traits.contains(.adminOnly)),
                        "apiVersions": rule.traits.contains(.stable) ? ["1"] : [],
                    ])
            }
            return .reply(["commands": .document(commands)])
        })
}
