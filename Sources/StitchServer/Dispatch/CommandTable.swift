internal import BSONStore

/// All commands, in alphabetical order.
enum CommandTable {
    /// The command definitions.
    static let all: [CommandDefinition] = [
        AbortTransactionCommand.definition,
        AggregateCommand.definition,
        BuildInfoCommand.definition,
        BulkWriteCommand.definition,
        CloneCollectionAsCappedCommand.definition,
        CollModCommand.definition,
        CollStatsCommand.definition,
        CommitTransactionCommand.definition,
        CompactCommand.definition,
        ConfigureFailPointCommand.definition,
        ConnectionStatusCommand.definition,
        ConnPoolStatsCommand.definition,
        ConvertToCappedCommand.definition,
        CountCommand.definition,
        CreateCommand.definition,
        CreateIndexesCommand.definition,
        SearchIndexCommands.create,
        UserCommands.create,
        CurrentOpCommand.definition,
        DataSizeCommand.definition,
        DbHashCommand.definition,
        DbStatsCommand.definition,
        DeleteCommand.definition,
        DistinctCommand.definition,
        DropCommand.definition,
        UserCommands.dropAll,
        DropDatabaseCommand.definition,
        DropIndexesCommand.definition,
        UserCommands.drop,
        SearchIndexCommands.drop,
        EndSessionsCommand.definition,
        ExplainCommand.definition { find($0) },
        FeaturesCommand.definition,
        Filemd5Command.definition,
        FindCommand.definition,
        FindAndModifyCommand.definition,
        FsyncCommand.definition,
        GetCmdLineOptsCommand.definition,
        GetDefaultRWConcernCommand.definition,
        GetLastErrorCommand.definition,
        GetLogCommand.definition,
        GetMoreCommand.definition,
        GetParameterCommand.definition,
        UserCommands.grantRoles,
        HelloCommand.definition,
        HostInfoCommand.definition,
        InsertCommand.definition,
        HelloCommand.legacyDefinition,
        KillAllSessionsCommand.definition,
        KillCursorsCommand.definition,
        KillOpCommand.definition,
        KillSessionsCommand.definition,
        ListCollectionsCommand.definition,
        ListCommandsCommand.definition { all },
        ListDatabasesCommand.definition,
        ListIndexesCommand.definition,
        SearchIndexCommands.list,
        LogRotateCommand.definition,
        LogoutCommand.definition,
        MapReduceCommand.definition,
        PingCommand.definition,
        PlanCacheClearCommand.definition,
        ProfileCommand.definition,
        RefreshSessionsCommand.definition,
        ReloadRulesCommand.definition,
        ReIndexCommand.definition,
        RenameCollectionCommand.definition,
        ReplSetFreezeCommand.definition,
        ReplSetGetConfigCommand.definition,
        ReplSetGetStatusCommand.definition,
        ReplSetStepDownCommand.definition,
        UserCommands.revokeRoles,
        RolesInfoCommand.definition,
        SaslContinueCommand.definition,
        SaslStartCommand.definition,
        ServerStatusCommand.definition,
        SetFeatureCompatibilityVersionCommand.definition,
        SetParameterCommand.definition,
        StartSessionCommand.definition,
        AttachmentCommands.state,
        StitchsyncChangePasswordCommand.definition,
        CollectAttachmentsCommand.definition,
        StitchsyncDeleteAccountCommand.definition,
        AttachmentCommands.get,
        PasswordTokenCommands.make,
        AttachmentCommands.put,
        PasswordTokenCommands.set,
        StitchsyncSignOutEverywhereCommand.definition,
        OwnSignInCommands.end,
        OwnSignInCommands.list,
        StitchsyncRegisterCommand.definition,
        StitchsyncRequestPasswordTokenCommand.definition,
        StitchsyncReportBacklogCommand.definition,
        StitchsyncShareConflictCommand.definition,
        StitchsyncSignUpCommand.definition,
        StitchsyncTombstonesCommand.definition,
        TestVersionCommands.deprecated,
        TestVersionCommands.second,
        TopCommand.definition,
        UpdateCommand.definition,
        UserCommands.update,
        UsersInfoCommand.definition,
        SearchIndexCommands.update,
        ValidateCommand.definition,
        WhatsMyURICommand.definition,
    ]

    private static let byName: [String: CommandDefinition] = {
        var found: [String: CommandDefinition] = [:]
        for definition in all {
            for name in [definition.name] + definition.signature.aliases {
                found[name] = definition
            }
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
