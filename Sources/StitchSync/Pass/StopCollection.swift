internal import BSONStore

/// The stop of a collection whose remote is another one.
struct StopCollection {
    let context: PassContext

    /// Stops the collection: its documents stay, and nothing is deleted or uploaded.
    func stop(
        _ code: SyncError.Code, _ found: RemoteIdentity, documentCount: Int? = nil
    ) async throws -> CollectionStoppedError {
        let stop = try await context.write { sync in
            var collection = sync.collection
            let count = try documentCount ?? sync.records.count(.confirmed, in: collection.rowID)
            let stop = SyncStop(
                code, expected: collection.identity, found: found, documentCount: count)
            collection.stop = stop
            try sync.collections.save(collection)
            return stop
        }
        return CollectionStoppedError(stop: stop)
    }
}

/// The error that ends a collection's share of a pass, because its remote is another one.
struct CollectionStoppedError: Error {
    let stop: SyncStop
}
