internal import BSONStore

/// The refusal of commands that need MongoDB's search service, as by servers without it.
enum SearchIndexCommands {
    static let createRule = rule("createSearchIndexes")
    static let dropRule = rule("dropSearchIndex")
    static let listRule = rule("listSearchIndexes")
    static let updateRule = rule("updateSearchIndex")

    private static func rule(_ name: String) -> CommandDefinition {
        CommandDefinition(name, [.stable], .server { _ in throw CommandFailure.searchUnavailable })
    }
}
