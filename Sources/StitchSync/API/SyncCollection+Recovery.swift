public import BSONStore

// MARK: - Missing documents

extension SyncCollection {
    /// The ids of documents that are missing at the remote without evidence of a delete.
    ///
    /// They stay readable and are not uploaded. A local write to one of them is a conflict whose
    /// remote document is missing.
    public var unexplainedIDs: [BSONValue] {
        get async throws { try documentIDs(.unexplained) }
    }

    /// Removes or uploads all documents that are missing without evidence of a delete.
    ///
    /// The next pass carries the answer out. It fetches from the remote first and syncs a document
    /// that exists there again as usual.
    ///
    /// - Returns: the number of these documents.
    @discardableResult
    public func resolveUnexplained(_ answer: UnexplainedAnswer) async throws -> Int {
        let ids = try await unexplainedIDs
        let count = try await write { try MarkUnexplained(sync: $0).resolve(answer, among: ids) }
        if answer != .keep { engine.wake() }
        return count
    }
}

// MARK: - Another remote

extension SyncCollection {
    /// Ends a stop by adopting the remote that was found.
    ///
    /// The next pass uploads local documents and downloads remote ones. Documents that differ are
    /// conflicts without a base. A document that was deleted locally and exists at the remote is a
    /// conflict, too.
    ///
    /// - Returns: whether the collection was stopped.
    @discardableResult
    public func adoptRemote() async throws -> Bool {
        try await endStop { sync in
            try sync.forEachRecord { record in
                let hasLocal = try sync.local(record.documentID) != nil
                let isDeleteQueued = record.isPending && !hasLocal
                if !isDeleteQueued { record.clearBase(hasLocal: hasLocal) }
                if record.isUnexplained { record.pause = nil }
                record.staleMark = try sync.nextStaleMark()
                try sync.save(record)
            }
        }
    }

    /// Ends a stop by replacing the local documents with those of the remote that was found.
    ///
    /// Local documents that the remote does not hold are removed, and pending changes are lost.
    ///
    /// - Returns: whether the collection was stopped.
    @discardableResult
    public func replaceFromRemote() async throws -> Bool {
        try await endStop { sync in
            try sync.forEachRecord { record in
                let hasLocal = try sync.local(record.documentID) != nil
                record.attempt = nil
                record.clearUnresolved()
                record.pause = nil
                record.failures = 0
                record.base = hasLocal ? .sameAsLocal : .absent
                (record.version, record.isPending) = (.absent, false)
                record.staleMark = AbsenceCause.deleted.staleMark(try sync.nextStaleMark())
                try sync.save(record)
            }
        }
    }

    private func endStop(
        _ body: @escaping @Sendable (SyncTransaction) throws -> Void
    ) async throws -> Bool {
        let wasStopped = try await write { sync in
            guard let stop = sync.collection.stop else { return false }
            try body(sync)
            var collection = sync.collection
            collection.identity = stop.found == .unknown ? nil : stop.found
            collection.stop = nil
            (collection.token, collection.lostToken) = (nil, nil)
            (collection.needsScan, collection.isAfterDrop) = (true, false)
            try sync.collections.save(collection)
            return true
        }
        engine.reportedStops.withLock { $0[namespace] = nil }
        if wasStopped { engine.wake() }
        return wasStopped
    }
}

extension SyncTransaction {
    /// Runs a closure for each record of the collection, in the order of the rows.
    fileprivate func forEachRecord(_ body: (inout SyncRecord) throws -> Void) throws {
        var last: Int64 = 0
        while true {
            let page = try records.page(of: .all, in: collection.rowID, after: last, limit: 500)
            guard let row = page.last?.rowID, row > last else { return }
            last = row
            for var record in page { try body(&record) }
        }
    }
}

// MARK: - Rejected writes

/// Reverted writes that the remote did not allow; the store keeps them until the app retries or
/// discards them.
extension SyncCollection {
    /// Returns the collection's rejected writes, the oldest first.
    public func rejectedWrites() async throws -> [RejectedWrite<Document>] {
        let found = try read(orIfNeverSynced: []) { sync in
            try sync.rejectedWrites.all(.reverted, in: sync.collection)
        }
        return try found.map { try coding.typed($0.write) }
    }

    /// Returns one rejected write; `nil` when it was retried or discarded.
    public func rejectedWrite(id: Int64) async throws -> RejectedWrite<Document>? {
        try read(orIfNeverSynced: nil) { sync in
            try sync.rejectedWrites.write(id, in: sync.collection)
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
            try coding.write(
                document, onto: [rejected.latestDocument, rejected.document, rejected.base]
            ).withoutVersion
        }
    }

    private func retry(
        _ id: Int64, _ edit: (@Sendable (RejectedWrite<BSONDocument>) throws -> BSONDocument)?
    ) async throws -> Bool {
        let isFound = try await write { sync in
            guard let rejection = try sync.rejectedWrites.write(id, in: sync.collection),
                rejection.state == .reverted
            else { return false }
            let rejected = rejection.write
            try RetryRejectedWrite(sync: sync).retry(
                rejected, as: edit?(rejected).identified(rejected.documentID))
            return try sync.rejectedWrites.remove(id)
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
            guard try sync.rejectedWrites.write(id, in: sync.collection)?.state == .reverted else {
                return false
            }
            return try sync.rejectedWrites.remove(id)
        }
    }

    /// Removes all of the collection's rejected writes.
    ///
    /// - Returns: the number of removed writes.
    @discardableResult
    public func discardRejectedWrites() async throws -> Int {
        try await write { sync in
            try sync.rejectedWrites.removeReverted(in: sync.collection.rowID)
        }
    }
}

// MARK: - Pending changes

extension SyncCollection {
    /// Reverts an unconfirmed local change to the edition that the remote last confirmed.
    ///
    /// Ends the document's pause, too. A document that the remote never held is removed. A change
    /// that was sent but not confirmed may have reached the remote; then the next pass reverts it
    /// there.
    ///
    /// - Returns: whether there was a change to revert.
    @discardableResult
    public func discardPendingChange(of id: BSONValue) async throws -> Bool {
        let isDiscarded = try await write { sync in
            guard let record = try sync.record(id), record.isPending else { return false }
            let local = try sync.local(id)
            let base = record.base.document(local: local)
            try sync.setLocal(id, to: base, orRemoveAs: .byApp)
            try NoteLocalWrite(sync: sync).note(before: local, after: base)
            return true
        }
        if isDiscarded { engine.wake() }
        return isDiscarded
    }

    /// Returns the edition that the remote last confirmed.
    ///
    /// - Returns: `nil` when the remote never held the document or its id is not synced.
    public func confirmedDocument(id: BSONValue) async throws -> Document? {
        try engine.store.read { transaction -> BSONDocument? in
            let connection = transaction.connection
            guard
                let collection = try SyncCollectionTable(connection: connection).existing(
                    namespace),
                let record = try SyncRecordTable(connection: connection)
                    .record(of: id, in: collection.rowID)
            else { return nil }
            return record.base.document(local: try transaction.get(namespace, id: id))
        }.map(decode)
    }
}
