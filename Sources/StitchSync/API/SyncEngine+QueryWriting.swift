package import BSONStore

/// Writes of the app to all documents that a filter or a query finds.
extension SyncEngine: QueryWriter {
    package func update(
        _ namespace: Namespace, _ filter: Filter, within range: FindOptions?, _ update: Update,
        upsert: Bool
    ) async throws -> UpdateResult {
        try await change(namespace) { sync in
            try sync.transaction.updateMany(
                namespace, filter: filter, update: update, upsert: upsert, within: range)
        }
    }

    package func delete(
        _ namespace: Namespace, _ filter: Filter, within range: FindOptions?
    ) async throws -> Int {
        let count = try await writeForApp(namespace) { sync in
            var deleted: [BSONDocument] = []
            try sync.transaction.deleteMany(namespace, filter: filter, within: range) {
                deleted.append($0)
            }
            for document in deleted {
                try NoteLocalWrite(sync: sync).note(before: document, after: nil)
            }
            return deleted.count
        }
        wake()
        return count
    }
}
