extension WriteTransaction {
    /// Adds new documents, several per statement where only their ids must be checked: beginning
    /// and ending a statement costs as much as a row.
    ///
    /// - Throws: as ``insert(_:_:)`` does, but the error may not name a duplicate. Some documents
    ///   may have been added: undo the transaction or a savepoint around the call.
    package func insertBatch(
        _ namespace: Namespace, _ documents: [BSONDocument]
    ) throws(StoreError) {
        guard !documents.isEmpty else { return }
        guard !isRestricted(namespace) else {
            for document in documents { try insert(namespace, document) }
            return
        }
        var stored: [StorableDocument] = []
        stored.reserveCapacity(documents.count)
        for document in documents {
            stored.append(try StorableDocument(document, in: namespace))
        }
        try onTableForWriting(namespace) { (table) throws(StoreError) in
            try checkMayWrite(table)
            var rest = stored[...]
            if try canAddTogether(to: table) {
                try add(&rest, by: .insertEight, count: 8, to: table)
                try add(&rest, by: .insertTwo, count: 2, to: table)
            }
            for document in rest { try add(document, to: table) }
        }
    }

    /// Whether a duplicate id is the only reason to refuse a document.
    private func canAddTogether(to table: CollectionTable) throws(StoreError) -> Bool {
        guard table.isPlain else { return false }
        return try connection.catalogCache.indexes(of: table.id, connection).isEmpty
    }

    private func add(
        _ rest: inout ArraySlice<StorableDocument>, by statement: CollectionTable.Statement,
        count: Int, to table: CollectionTable
    ) throws(StoreError) {
        while rest.count >= count {
            let insertion = try connection.prepare(statement, table)
            try run(insertion, rest.prefix(count), 1, feed.next)
            // Row numbers are consecutive, except the highest possible ones.
            var row = connection.lastInsertedRowID - Int64(count)
            for document in rest.prefix(count) {
                row += 1
                try record(
                    .insert, table.namespace, before: nil, after: document.document,
                    link: ImageLink(row: row, previous: 0))
                try removeTombstone(document, in: table)
            }
            rest = rest.dropFirst(count)
        }
    }

    /// Binds documents from a parameter on, each while the earlier ones stay in place, and runs the
    /// statement.
    private func run(
        _ statement: borrowing SQLiteStatement, _ rest: ArraySlice<StorableDocument>,
        _ parameter: Int32, _ change: Int64
    ) throws(StoreError) {
        guard let next = rest.first else { return try statement.run() }
        try next.key.withLentBytes { (key) throws(StoreError) in
            try next.document.withUnsafeBytes { (bytes) throws(StoreError) in
                statement.bind(parameter, lending: key)
                statement.bind(parameter + 1, lending: bytes)
                statement.bind(parameter + 2, change)
                statement.bind(parameter + 3, DocumentChecksum.stored(bytes))
                try run(
                    statement, rest.dropFirst(), parameter + 4, change == 0 ? 0 : change + 1)
            }
        }
    }
}
