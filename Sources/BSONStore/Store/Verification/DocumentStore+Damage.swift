extension DocumentStore {
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
