internal import BSONStore

/// The refusal of commands that need MongoDB's search service, as by servers without it.
enum SearchIndexCommands {
    static let create = definition("createSearchIndexes")
    static let drop = definition("dropSearchIndex")
    static let list = definition("listSearchIndexes")
    static let update = definition("updateSearchIndex")

    private static func definition(_ name: String) -> CommandDefinition {
        CommandDefinition(
            name, aliases: [], [.stable],
            fields: nil, required: [],
            privileges: .access(.read), underRules: .refused, gateway: .here,
            statements: nil, cursor: .none,
            .server { _ in throw CommandFailure.searchUnavailable })
    }
}
