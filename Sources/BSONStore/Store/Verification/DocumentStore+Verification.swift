extension DocumentStore {
    /// Checks the whole store and reports its faults; O(n); other calls continue meanwhile.
    ///
    /// It checks SQLite's pages and indexes; that every document is valid BSON under the key of its
    /// `_id` and matches its checksum; that each index holds the keys of all its documents and no
    /// others; and that the feed's positions and images are complete.
    ///
    /// - Throws: when the file cannot be read at all; damage is reported, not thrown.
    public func verify() throws -> StoreReport {
        try read { transaction in try StoreCheck(connection: transaction.connection).run() }
    }

    /// Moves damaged documents out of their collections, so that the rest can be read; their bytes
    /// stay in the file's table `store_quarantine`.
    ///
    /// The feed records no change, because no readable document is removed.
    ///
    /// - Returns: the faults found.
    /// - Throws: SQLite's errors; nothing is changed then.
    @discardableResult
    public func quarantine() throws -> StoreReport {
        try write { transaction in
            let check = StoreCheck(connection: transaction.connection)
            let report = try check.run()
            for fault in report.faults where fault.place == .document {
                guard let namespace = fault.namespace, let row = fault.row else { continue }
                if let table = try Catalog.read(namespace, transaction.connection) {
                    try transaction.imageKeeper.markImagesLost(of: row, in: table)
                }
                try check.quarantine(row, of: namespace, because: fault.message)
            }
            transaction.invalidateTables()
            return report
        }
    }

    /// Removes a document's row and nothing else, as damage would; for tests of the store and of
    /// sync.
    package func loseRow(_ id: BSONValue, in namespace: Namespace) throws {
        try write { transaction in
            guard let table = try Catalog.read(namespace, transaction.connection) else { return }
            let delete = try transaction.connection.prepare(
                "DELETE FROM \(StoreSchema.tableName(table.id)) WHERE key = ?1")
            delete.bind(1, keyOf: id)
            try delete.run()
        }
    }
}
