/// Tells one change of what a collection is, not of what is in it: made, indexed, modified.
///
/// It has no position of its own in the feed of changes: it stands behind one.
package struct DefinitionChange: Sendable, Hashable {
    /// What happened.
    package enum Kind: Int64, Sendable, Hashable {
        /// The collection or view is new.
        case create = 1
        /// It has an index more.
        case createIndex = 2
        /// It has an index less.
        case dropIndex = 3
        /// It has other options.
        case modify = 4
        /// The view is gone.
        case dropView = 5
    }

    /// The number of the change; it grows with each and is never used twice.
    package let id: Int64
    /// The position in the feed of the change that it stands behind.
    package let position: Int64
    /// The collection or view.
    package let namespace: Namespace
    /// What happened.
    package let kind: Kind
    /// What exactly, as MongoDB's `operationDescription` says it.
    package let description: BSONDocument
    /// What a modification changed, as it was before; `nil` for the others.
    package let before: BSONDocument?
    /// The collection's UUID, `nil` for a view.
    package let uuid: BSONValue?
    /// What the transaction said about itself; see ``WriteTransaction/comment``.
    package let comment: BSONValue?
}

extension WriteTransaction {
    /// Writes the change of a collection's definition beside the feed, when there is one.
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
    /// The number of the newest change of a definition, 0 when there was none.
    package var definitionID: Int64 {
        get throws(StoreError) {
            try connection.int64(
                "SELECT seq FROM sqlite_sequence WHERE name = 'store_definitions'") ?? 0
        }
    }

    /// Reads changes of definitions in commit order.
    ///
    /// - Parameters:
    ///   - id: reads what is newer than this.
    ///   - position: reads what stands behind this position of the feed or before.
    ///   - limit: how many are read at most.
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

    /// Returns the number of the last change of a definition that stands before a position of the
    /// feed.
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
