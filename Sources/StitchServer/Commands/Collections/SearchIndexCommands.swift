internal import BSONStore

/// The refusal of commands that need MongoDB's search service, as by servers without it.
enum SearchIndexCommands {
    static let createRule = rule("createSearchIndexes")
    static let dropRule = rule("dropSearchIndex")
    static let listRule = rule("listSearchIndexes")
    static let updateRule = rule("updateSearchIndex")

    /// The error for all of these commands.
    static let refusal = CommandFailure(
        31082,
        "Using Atlas Search Database Commands and the $listSearchIndexes aggregation stage "
            + "requires additional configuration. Please connect to Atlas or an AtlasCLI local "
            + "deployment to enable. For more information on how to connect, see "
            + "https://dochub.mongodb.org/core/atlas-cli-deploy-local-reqs.")

    private static func rule(_ name: String) -> CommandDefinition {
        CommandDefinition(name, [.stable], .server { _ in throw refusal })
    }
}
