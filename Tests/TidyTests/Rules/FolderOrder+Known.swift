extension FolderOrder {
    /// Uses that point the wrong way and are not mended yet, as "file: type"; the list may only shrink.
    static let wrongDirections: [String] = [
        "Sources/BSONStore/Store/Feed/ChangeFeed.swift: DocumentStore",
        "Sources/BSONStore/Store/Planning/QueryPlanner.swift: ReadTransaction",
        "Sources/BSONStore/Store/SQLite/SQLiteConnection.swift: CatalogCache",
    ]
}
