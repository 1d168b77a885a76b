internal import BSONStore

/// Reverted writes that the remote did not allow; the store keeps them until the app retries or
/// discards them.
extension SyncCollection {
    /// Returns the collection's rejected writes, the oldest first.
    public func rejectedWrites() async throws -> [RejectedWrite<Document>] {
        let found = try read { sync in
            try sync.records.rejections(.reverted, in: sync.collection)
        }
        return try (found ?? []).map { try coding.typed($0.write) }
    }

    /// Returns one rejected write; `nil` when it was retried or discarded.
    public func rejectedWrite(id: Int64) async throws -> RejectedWrite<Document>? {
        try read { sync in
            try sync.records.rejection(id, in: sync.collection)
        }.flatMap { $0.state == .reverted ? try coding.typed($0.write) : nil }
    }

    /// Repeats a rejected write with its later edits and removes the rejection.
    ///
    /// Where the document has changed since, the write changes the same fields of the current
    /// document.
    ///
    /// - Returns: whether the rejected write existed.
    /// - Throws: `StoreError` of code 11000 for an insert whose `_id` another document has now;
    ///   ``SyncError`` of code `.writeRefused` where the collection is strict. After an error the
    ///   rejection stays.
    @discardableResult
    public func retryRejectedWrite(_ id: Int64) async throws -> Bool {
        try await retry(id, nil)
    }

    /// Stores a document in place of a rejected write and removes the rejection.
    ///
    /// - Returns: whether the rejected write existed.
    /// - Throws: `StoreError` of code 66 for a document with another `_id`; ``SyncError`` of code
    ///   `.writeRefused` where the collection is strict. After an error the rejection stays.
    @discardableResult
    public func retryRejectedWrite(_ id: Int64, as document: Document) async throws -> Bool {
        let coding = coding
        return try await retry(id) { rejected in
            try coding.encode(document, rejected.latestDocument ?? rejected.base).withoutVersion
        }
    }

    private func retry(
        _ id: Int64, _ edit: (@Sendable (RejectedWrite<BSONDocument>) throws -> BSONDocument)?
    ) async throws -> Bool {
        let isFound = try await write { sync in
            guard let rejection = try sync.records.rejection(id, in: sync.collection),
                rejection.state == .reverted
            else { return false }
            let rejected = rejection.write
            try sync.retry(
                rejected, as: edit?(rejected).identified(rejected.documentID))
            return try sync.records.removeRejection(id)
        }
        if isFound { engine.wake() }
        return isFound
    }

    /// Removes a rejected write without repeating it.
    ///
    /// - Returns: whether the rejected write existed.
    @discardableResult
    public func discardRejectedWrite(_ id: Int64) async throws -> Bool {
        try await write { sync in
            guard try sync.records.rejection(id, in: sync.collection)?.state == .reverted else {
                return false
            }
            return try sync.records.removeRejection(id)
        }
    }

    /// Removes all of the collection's rejected writes.
    ///
    /// - Returns: the number of removed writes.
    @discardableResult
    public func discardRejectedWrites() async throws -> Int {
        try await write { sync in
            try sync.records.removeRejections(in: sync.collection.rowID)
        }
    }
}

extension SyncTransaction {
    /// Repeats a rejected write as a local write.
    fileprivate func retry(
        _ rejected: RejectedWrite<BSONDocument>, as edited: BSONDocument?
    ) throws {
        let id = rejected.documentID
        let wanted = edited ?? rejected.latestDocument
        let local = try local(id)
        let facts = RetryFacts(
            wantsDocument: wanted != nil, hadBase: rejected.base != nil, existsNow: local != nil,
            isAtBase: contentEqual(local, rejected.base), isEdited: edited != nil)
        var after = wanted
        switch RetryDecision.decide(facts) {
        case .nothing: return
        case .put, .delete: break
        case .merge: after = try Self.merged(wanted, rejected.base, local)
        case .occupied:
            throw StoreError(
                .duplicateKey, "another document has the _id by now", namespace: namespace,
                documentID: id)
        }
        try setLocal(id, to: after, orRemoveAs: .byApp)
        try noteLocalWrite(before: local, after: after)
    }

    /// Returns the current document with the changes that lead from the base to the wanted
    /// document.
    private static func merged(
        _ wanted: BSONDocument?, _ base: BSONDocument?, _ local: BSONDocument?
    ) throws -> BSONDocument? {
        guard let wanted, let base, let local,
            let changes = UpdateDescription.difference(from: base, to: wanted)
        else { return wanted }
        return try changes.apply(to: local)
    }
}
