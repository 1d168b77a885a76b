/// Holds all commands, in alphabetical order.
enum CommandTable {
    /// The commands.
    static let rules: [CommandRule] = [
        AggregateCommand.rule,
        BuildInfoCommand.rule,
        CollModCommand.rule,
        ConfigureFailPointCommand.rule,
        CountCommand.rule,
        CreateCommand.rule,
        CreateIndexesCommand.rule,
        DeleteCommand.rule,
        DistinctCommand.rule,
        DropCommand.rule,
        DropDatabaseCommand.rule,
        DropIndexesCommand.rule,
        EndSessionsCommand.rule,
        FindAndModifyCommand.rule,
        FindCommand.rule,
        GetMoreCommand.rule,
        GetParameterCommand.rule,
        HelloCommand.rule,
        HelloCommand.legacyRule,
        InsertCommand.rule,
        KillCursorsCommand.rule,
        ListCollectionsCommand.rule,
        ListDatabasesCommand.rule,
        ListIndexesCommand.rule,
        PingCommand.rule,
        RenameCollectionCommand.rule,
        ServerStatusCommand.rule,
        UpdateCommand.rule,
    ]

    private static let byName: [String: CommandRule] = {
        var found: [String: CommandRule] = [:]
        for rule in rules {
            for name in [rule.name] + rule.aliases { found[name] = rule }
        }
        return found
    }()

    /// The command with a name or another name of it.
    static func find(_ name: String) -> CommandRule? { byName[name] }

    /// Whether two names are those of one command.
    static func areSame(_ left: String, _ right: String) -> Bool {
        left == right || (byName[left].map { $0.name == byName[right]?.name } ?? false)
    }
}
