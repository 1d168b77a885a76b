internal import BSONStore

/// Refuses what needs MongoDB's search service, as servers without it do.
enum SearchIndexCommands {
    static let createRule = rule("createSearchIndexes")
    static let dropRule = rule("dropSearchIndex")
    static let listRule = rule("listSearchIndexes")
    static let updateRule = rule("updateSearchIndex")

    private static func rule(_ name: String) -> CommandDefinition {
        CommandDefinition(name, [.stable], .server { _ in throw CommandFailure.searchUnavailable })
    }
}
