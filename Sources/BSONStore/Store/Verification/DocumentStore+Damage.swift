extension DocumentStore {
    /// Takes a document's row from its table and leaves everything else as it is, as damage does; for
    /// tests of what a store and sync do then.
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
