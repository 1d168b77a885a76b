/// A reader of the changes of collections' definitions.
struct DefinitionReader {
    /// The transaction's connection.
    let connection: SQLiteConnection

    /// The number of the newest definition change; 0 without any.
    var definitionID: Int64 {
        get throws(StoreError) {
            try connection.int64(
                "SELECT seq FROM sqlite_sequence WHERE name = 'store_definitions'") ?? 0
        }
    }

    /// Reads definition changes in commit order.
    ///
    /// - Parameters:
    ///   - id: the number after which to read.
    ///   - position: the last feed position whose definition changes to read.
    ///   - limit: the largest number of changes to read.
    /// - Throws: `changeStreamHistoryLost` (286) when some of them are no longer kept.
    func definitionChanges(
        after id: Int64, through position: Int64, limit: Int
    ) throws(StoreError) -> [DefinitionChange] {
        let newest = try definitionID
        guard id < newest else { return [] }
        let oldest = try connection.int64("SELECT min(id) FROM store_definitions")
        guard let oldest, id >= max(oldest, 1) - 1 else {
            throw StoreError(
                .changeStreamHistoryLost,
                "Resume of change stream was not possible, as the resume point may no longer be in "
                    + "the oplog. (definition \(id), kept from \(oldest ?? newest))")
        }
        let statement = try connection.prepare(
            """
            SELECT id, position, database, name, kind, details FROM store_definitions
            WHERE id > ?1 AND position <= ?2 ORDER BY id LIMIT ?3
            """)
        statement.bind(1, id)
        statement.bind(2, position)
        statement.bind(3, Int64(limit))
        var found: [DefinitionChange] = []
        while try statement.step() { found.append(try DefinitionChange(statement)) }
        return found
    }

    /// Returns the number of the last definition change before a position of the feed.
    func definitionID(before position: Int64) throws(StoreError) -> Int64 {
        guard try definitionID > 0 else { return 0 }
        let statement = try connection.prepare(
            "SELECT min(id) FROM store_definitions WHERE position >= ?1")
        statement.bind(1, position)
        guard try statement.step(), !statement.isNull(0) else { return try definitionID }
        return max(statement.int64(0), 1) - 1
    }
}
