extension FolderOrder {
    /// Uses that point the wrong way and are not mended yet, as "file: type"; the list may only shrink.
    static let wrongDirections: [String] = [
        "Sources/BSONStore/Store/Feed/ChangeFeed.swift: DocumentStore",
        "Sources/BSONStore/Store/Planning/QueryPlanner.swift: ReadTransaction",
        "Sources/BSONStore/Store/SQLite/SQLiteConnection.swift: CatalogCache",
        "Sources/StitchServer/Backend/StoreBackend+Users.swift: Authorization",
        "Sources/StitchServer/Backend/StoreBackend+Users.swift: ParsedCommand",
        "Sources/StitchServer/Backend/StoreBackend+Users.swift: RestrictedCommands",
        "Sources/StitchServer/Backend/StoreBackend.swift: GetParameterCommand",
        "Sources/StitchServer/Backend/StoreBackend.swift: StableAPI",
        "Sources/StitchServer/Calls/CommandCall.swift: ParsedCommand",
        "Sources/StitchServer/Calls/CommandDefinition.swift: StoreBackend",
        "Sources/StitchServer/Commands/Diagnostics/ListCommandsCommand.swift: CommandTable",
        "Sources/StitchServer/Commands/Documents/ExplainCommand.swift: CommandTable",
        "Sources/StitchServer/Commands/Documents/ExplainCommand.swift: ParsedCommand",
        "Sources/StitchServer/Cursors/RowSource.swift: StoreBackend",
        "Sources/StitchServer/Security/SignInDelay.swift: DelayedFailure",
        "Sources/StitchServer/Streams/ChangeStreamSource.swift: StoreBackend",
    ]
}
