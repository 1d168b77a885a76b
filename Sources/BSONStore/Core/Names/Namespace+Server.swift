extension Namespace {
    private static let serverDatabases: Set<Name> = [
        "admin", "config", "local", "stitchsync", "stitchsync_gateway",
    ]

    /// Whether a server keeps its users or its state in a database.
    package static func isOfServer(database: String) -> Bool {
        serverDatabases.contains(Name(database))
    }

    /// Whether a server keeps its users or its state in the collection.
    package var isOfServer: Bool {
        Self.isOfServer(database: database) || collection.hasBytePrefix("system.")
    }
}
