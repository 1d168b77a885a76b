internal import BSONStore

/// All commands, in alphabetical order.
enum CommandTable {
    /// The command definitions.
    static let rules: [CommandDefinition] = [
        AbortTransactionCommand.rule,
        AggregateCommand.rule,
        BuildInfoCommand.rule,
        BulkWriteCommand.rule,
        CollModCommand.rule,
        CollStatsCommand.rule,
        CommitTransactionCommand.rule,
        CompactCommand.rule,
        ConfigureFailPointCommand.rule,
        ConnectionStatusCommand.rule,
        ConnPoolStatsCommand.rule,
        ConvertToCappedCommand.rule,
        CountCommand.rule,
        CreateCommand.rule,
        CreateIndexesCommand.rule,
        SearchIndexCommands.createRule,
        UserCommands.create,
        CurrentOpCommand.rule,
        DataSizeCommand.rule,
        DbHashCommand.rule,
        DbStatsCommand.rule,
        DeleteCommand.rule,
        DistinctCommand.rule,
        DropCommand.rule,
        UserCommands.dropAll,
        DropDatabaseCommand.rule,
        DropIndexesCommand.rule,
        UserCommands.drop,
        SearchIndexCommands.dropRule,
        EndSessionsCommand.rule,
        ExplainCommand.rule { find($0) },
        FeaturesCommand.rule,
        Filemd5Command.rule,
        FindCommand.rule,
        FindAndModifyCommand.rule,
        FsyncCommand.rule,
        GetCmdLineOptsCommand.rule,
        GetDefaultRWConcernCommand.rule,
        GetLastErrorCommand.rule,
        GetLogCommand.rule,
        GetMoreCommand.rule,
        GetParameterCommand.rule,
        UserCommands.grantRoles,
        HelloCommand.rule,
        HostInfoCommand.rule,
        InsertCommand.rule,
        HelloCommand.legacyRule,
        KillAllSessionsCommand.rule,
        KillCursorsCommand.rule,
        KillOpCommand.rule,
        KillSessionsCommand.rule,
        ListCollectionsCommand.rule,
        ListCommandsCommand.rule { rules },
        ListDatabasesCommand.rule,
        ListIndexesCommand.rule,
        SearchIndexCommands.listRule,
        LogRotateCommand.rule,
        LogoutCommand.rule,
        MapReduceCommand.rule,
        PingCommand.rule,
        PlanCacheClearCommand.rule,
        ProfileCommand.rule,
        RefreshSessionsCommand.rule,
        ReloadRulesCommand.rule,
        ReIndexCommand.rule,
        RenameCollectionCommand.rule,
        ReplSetFreezeCommand.rule,
        ReplSetGetConfigCommand.rule,
        ReplSetGetStatusCommand.rule,
        ReplSetStepDownCommand.rule,
        UserCommands.revokeRoles,
        SaslContinueCommand.rule,
        SaslStartCommand.rule,
        ServerStatusCommand.rule,
        SetFeatureCompatibilityVersionCommand.rule,
        SetParameterCommand.rule,
        StartSessionCommand.rule,
        StitchsyncSignUpCommand.rule,
        StitchsyncTombstonesCommand.rule,
        TestVersionCommands.deprecated,
        TestVersionCommands.second,
        TopCommand.rule,
        UpdateCommand.rule,
        UserCommands.update,
        UsersInfoCommand.rule,
        SearchIndexCommands.updateRule,
        ValidateCommand.rule,
        WhatsMyURICommand.rule,
    ]

    private static let byName: [String: CommandDefinition] = {
        var found: [String: CommandDefinition] = [:]
        for rule in rules {
            for name in [rule.name] + rule.signature.aliases { found[name] = rule }
        }
        return found
    }()

    /// Returns the command with a name or alias.
    static func find(_ name: String) -> CommandDefinition? { byName[name] }

    /// Whether two names denote one command.
    static func areSame(_ left: String, _ right: String) -> Bool {
        left == right || (byName[left].map { $0.name == byName[right]?.name } ?? false)
    }
}
