/// A change of a collection's definition: created, indexed, modified.
///
/// It has no position of its own in the feed of changes; it follows the change at a position.
package struct DefinitionChange: Sendable, Hashable {
    /// The kind of a definition change.
    package enum Kind: Int64, Sendable, Hashable {
        /// The collection or view was created.
        case create = 1
        /// An index was created.
        case createIndex = 2
        /// An index was dropped.
        case dropIndex = 3
        /// The options changed.
        case modify = 4
        /// The view was dropped.
        case dropView = 5
    }

    /// The number of the change; numbers grow and are never reused.
    package let id: Int64
    /// The feed position of the change that it follows.
    package let position: Int64
    /// The collection or view.
    package let namespace: Namespace
    /// The kind of change.
    package let kind: Kind
    /// The details, as in MongoDB's `operationDescription`.
    package let description: BSONDocument
    /// The earlier values that a modification changed; `nil` for other kinds.
    package let before: BSONDocument?
    /// The collection's UUID; `nil` for a view.
    package let uuid: BSONValue?
    /// The comment of the transaction; see ``WriteTransaction/comment``.
    package let comment: BSONValue?
}

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

extension ReadTransaction {
    /// The number of the newest definition change; 0 without any.
    package var definitionID: Int64 {
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
    package func definitionChanges(
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
    package func definitionID(before position: Int64) throws(StoreError) -> Int64 {
        guard try definitionID > 0 else { return 0 }
        let statement = try connection.prepare(
            "SELECT min(id) FROM store_definitions WHERE position >= ?1")
        statement.bind(1, position)
        guard try statement.step(), !statement.isNull(0) else { return try definitionID }
        return max(statement.int64(0), 1) - 1
    }
}

extension DefinitionChange {
    fileprivate init(_ statement: borrowing SQLiteStatement) throws(StoreError) {
        id = statement.int64(0)
        position = statement.int64(1)
        namespace = Namespace(statement.string(2), statement.string(3))
        guard let kind = Kind(rawValue: statement.int64(4)) else {
            throw StoreError(.corrupt, "The change of a definition \(id) has an unknown kind")
        }
        self.kind = kind
        let details: BSONDocument
        do throws(BSONError) {
            details = try BSONDocument(validating: statement.bytes(5))
        } catch {
            throw StoreError(
                .corrupt, "The change of a definition \(id) is not valid BSON",
                namespace: namespace, underlying: error)
        }
        description = details["description"]?.documentValue ?? [:]
        before = details["before"]?.documentValue
        uuid = details["uuid"]
        comment = details["comment"]
    }
}
