internal import BSONStore

/// The rejected writes of a collection: changes that the remote did not allow and the engine
/// reverted.
///
/// The store keeps them until the app retries or discards them.
///
/// ```swift
/// for rejected in try await todos.rejectedWrites.all() {
///     if await user.wantsAgain(rejected) { try await todos.rejectedWrites.retry(rejected.id) }
/// }
/// ```
public struct RejectedWrites<Document: Sendable>: Sendable {
    let collection: SyncCollection<Document>

    /// Returns the rejected writes, the oldest first.
    ///
    /// A document that does not decode is `nil`, and ``RejectedWrite/decodingFailure`` says why.
    public func all() async throws -> [RejectedWrite<Document>] {
        let found = try collection.read(orIfNeverSynced: []) { sync in
            try sync.rejectedWrites.all(.reverted, in: sync.collection)
        }
        return found.map { collection.coding.readable($0.write) }
    }

    /// Returns one rejected write as ``all()`` does; `nil` when it was retried or discarded.
    public func write(id: Int64) async throws -> RejectedWrite<Document>? {
        try collection.read(orIfNeverSynced: nil) { sync in
            try sync.rejectedWrites.write(id, in: sync.collection)
        }.flatMap { $0.state == .reverted ? collection.coding.readable($0.write) : nil }
    }

    /// Repeats a rejected write with its later edits and removes the rejection.
    ///
    /// Where the document has changed since, the write changes the same fields of the current
    /// document.
    ///
    /// - Parameter document: what to store instead; `nil` repeats the write. Of it, too, only the
    ///   fields are written that differ from the document before the write.
    /// - Returns: whether the rejected write existed.
    /// - Throws: `StoreError` of code 11000 for an insert whose `_id` another document has now, and
    ///   of code 66 for a document with another `_id`; ``SyncError`` of code `.writeRefused` where
    ///   the collection is strict. After an error the rejection stays.
    @discardableResult
    public func retry(_ id: Int64, as document: Document? = nil) async throws -> Bool {
        let coding = collection.coding
        let isFound = try await collection.write { sync in
            guard let rejection = try sync.rejectedWrites.write(id, in: sync.collection),
                rejection.state == .reverted
            else { return false }
            let rejected = rejection.write
            let edited = try document.map { document in
                try coding.write(
                    document, onto: [rejected.latestDocument, rejected.document, rejected.base]
                ).withoutVersion.identified(rejected.documentID)
            }
            try RetryRejectedWrite(sync: sync).retry(rejected, as: edited)
            return try sync.rejectedWrites.remove(id)
        }
        if isFound { collection.engine.wake() }
        return isFound
    }

    /// Removes a rejected write without repeating it.
    ///
    /// - Returns: whether the rejected write existed.
    @discardableResult
    public func discard(_ id: Int64) async throws -> Bool {
        try await collection.write { sync in
            guard let rejection = try sync.rejectedWrites.write(id, in: sync.collection),
                rejection.state == .reverted
            else { return false }
            // A file may have been kept for it.
            sync.noteChange(of: rejection.write.documentID)
            return try sync.rejectedWrites.remove(id)
        }
    }

    /// Removes all of the collection's rejected writes.
    ///
    /// - Returns: the number of removed writes.
    @discardableResult
    public func discardAll() async throws -> Int {
        try await collection.write { sync in
            if sync.notesDocuments {
                for rejection in try sync.rejectedWrites.all(.reverted, in: sync.collection) {
                    sync.noteChange(of: rejection.write.documentID)
                }
            }
            return try sync.rejectedWrites.removeReverted(in: sync.collection.rowID)
        }
    }
}
