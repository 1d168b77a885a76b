public import BSONStore

// MARK: - Missing documents

extension SyncCollection {
    /// The ids of documents that are missing at the remote without evidence of a delete.
    ///
    /// They stay readable and are not uploaded. A local write to one of them is a conflict whose
    /// remote document is missing.
    public var unexplainedIDs: [BSONValue] {
        get async throws {
            try read { sync in
                try sync.records.documentIDs(.unexplained, in: sync.collection.rowID)
            } ?? []
        }
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
        let count = try await write { try $0.resolveUnexplained(answer, among: ids) }
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
                let isDeleteQueued = try record.isPending && sync.local(record.documentID) == nil
                if !isDeleteQueued { try sync.clearBase(of: &record) }
                if record.isUnexplained { record.pause = nil }
                record.hint = try sync.nextStaleMark()
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
                record.hint = AbsenceCause.deleted.hint(try sync.nextStaleMark())
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
            try sync.state.save(collection)
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
            let page = try records.records(.all, in: collection.rowID, after: last, limit: 500)
            guard let row = page.last?.rowID, row > last else { return }
            last = row
            for var record in page { try body(&record) }
        }
    }
}
