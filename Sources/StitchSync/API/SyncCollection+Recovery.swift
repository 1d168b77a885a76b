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
                // Its cause of absence was reported by the former remote.
                record.staleMark = 0
                try sync.makeStale(&record)
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
                record.staleMark = AbsenceCause.deleted.staleMark(try sync.transactionNumber())
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

extension SyncCollection {
    /// The changes that the remote did not allow, to be retried or discarded.
    public var rejectedWrites: RejectedWrites<Document> { RejectedWrites(collection: self) }
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
        }.map(coding.decoded)
    }
}
