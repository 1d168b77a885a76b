extension WriteTransaction {
    /// Records a definition change, if the file has a feed.
    func record(
        _ kind: DefinitionChange.Kind, _ table: CollectionTable, _ description: BSONDocument,
        before: BSONDocument? = nil
    ) throws(StoreError) {
        guard feed.changesMax > 0 else { return }
        var details: BSONDocument = ["description": .document(description)]
        if let before { details.append("before", .document(before)) }
        if table.options.view == nil {
            details.append("uuid", try Catalog.uuid(table, connection))
        }
        if let comment { details.append("comment", comment) }
        let statement = try connection.prepare(
            """
            INSERT INTO store_definitions (position, database, name, kind, details)
            VALUES (?1, ?2, ?3, ?4, ?5)
            """)
        statement.bind(1, feed.head)
        statement.bind(2, table.namespace.database)
        statement.bind(3, table.namespace.collection)
        statement.bind(4, kind.rawValue)
        statement.bind(5, details.bytes)
        try statement.run()
        try feed.trimDefinitions(upTo: connection.lastInsertedRowID, connection)
    }
}
