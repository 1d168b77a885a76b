internal import BSONStore

/// The settlement of records with fetched documents: all of them together, or each in a savepoint.
///
/// ``SettleFetched`` settles one of them.
struct SettleFetchedBatch {
    let sync: SyncTransaction
    let terms: FetchTerms
    /// The keys of missing documents that a scan of all rows found; `nil` before a scan.
    private var scan: Set<[UInt8]>?

    init(sync: SyncTransaction, _ terms: FetchTerms) {
        self.sync = sync
        self.terms = terms
    }

    private var missingRows: MissingRows { MissingRows(sync: sync, scan: scan) }

    /// Begins to settle fetched documents; returns `false` when another transaction did so before.
    private func begin(_ extras: CommitExtras) throws -> Bool {
        switch extras {
        case .nothing, .markStale: true
        case .begin(let wanted, let rest): try sync.wantedIDs.replace(wanted, by: rest)
        }
    }

    /// Stores the additional data of a fetch.
    private func end(_ extras: CommitExtras) throws {
        switch extras {
        case .nothing, .begin: return
        case .markStale(let batch): try MarkStale(sync: sync).mark(batch)
        }
    }

    /// Settles fetched documents together; throws at the first document that cannot be stored.
    func settleTogether(
        _ fetchedDocuments: [FetchedDocument], then extras: CommitExtras
    ) throws -> [FetchOutcome] {
        guard try begin(extras) else { return fetchedDocuments.map { _ in .nothing } }
        let locals = try localDocuments(fetchedDocuments)
        let scanned = try scanning(fetchedDocuments, locals)
        let settled = try sync.withBulkInsert {
            try fetchedDocuments.enumerated().map { index, fetched in
                try scanned.settle(
                    fetched,
                    local: index < locals.count ? KnownDocument(read: locals[index]) : .unread)
            }
        }
        try end(extras)
        return settled
    }

    /// Returns the local documents of fetched ones, up to a size limit.
    ///
    /// The list is empty where they have to be read one by one. The settlement of one document does
    /// not change another.
    private func localDocuments(_ fetchedDocuments: [FetchedDocument]) throws
        -> [StoredDocument?]
    {
        guard fetchedDocuments.allSatisfy({ $0.record.rowID != nil }) else { return [] }
        return try sync.transaction.findInKeyOrder(
            sync.namespace, ids: fetchedDocuments.map(\.record.documentID),
            bytesMax: SyncTransaction.batchReadBytesMax) ?? []
    }

    /// Scans all rows once where several fetched documents with a change are missing locally.
    private func scanning(
        _ fetchedDocuments: [FetchedDocument], _ locals: [StoredDocument?] = []
    ) throws -> SettleFetchedBatch {
        var scanned = self
        scanned.scan = try missingRows.scan(for: fetchedDocuments, locals)
        return scanned
    }

    /// Settles one fetched document, unless it is outdated, or its document is paused.
    ///
    /// - Parameter local: the local document, unless it is still to be read.
    func settle(
        _ fetched: FetchedDocument, local: KnownDocument = .unread
    ) throws -> FetchOutcome {
        if try DeviceDocuments(sync: sync).hasRecordMeanwhile(fetched.record) { return .nothing }
        guard let record = try sync.current(fetched.record), record.pause == nil else {
            return .nothing
        }
        guard record.version == fetched.record.version,
            record.attempt?.operation == fetched.record.attempt?.operation
        else {
            // Another engine stored an edition since the request, so that this one is outdated.
            try sync.markStale(record)
            return .nothing
        }
        var settlement = try SettleFetched(
            fetched, record, local: local, terms, missingRows, sync: sync)
        return try settlement.settle()
    }
}

/// The settlement in savepoints, after it failed for all documents together.
extension SettleFetchedBatch {
    /// The documents that cannot keep the unique values that they took, by their keys.
    private struct Collided: Error {
        let causes: [[UInt8]: StoreError]
    }

    /// Settles fetched documents one by one; those of the batch may exchange unique values.
    ///
    /// A document that takes a value of another one which keeps it is refused, and so are those
    /// that took values of the refused one.
    ///
    /// - Parameter postpones: whether a refused document is marked as stale instead of paused,
    ///   since a later batch may release the value.
    /// - Returns: the outcomes, and the indexes of the postponed documents.
    func settleIndividually(
        _ fetchedDocuments: [FetchedDocument], then extras: CommitExtras, postpones: Bool
    ) throws -> (settled: [FetchOutcome], postponed: [Int]) {
        guard try begin(extras) else { return (fetchedDocuments.map { _ in .nothing }, []) }
        let scanned = try scanning(fetchedDocuments)
        let keys = fetchedDocuments.map { BSONKey.encode($0.record.documentID) }
        var refused: [[UInt8]: StoreError] = [:]
        let mark = sync.storyMark
        while true {
            do {
                let settled = try sync.transaction.savepoint {
                    let (settled, collisions) = try sync.transaction.deferringUniqueKeys {
                        try zip(fetchedDocuments, keys).map { fetched, key in
                            if let cause = refused[key] {
                                return try refuse(fetched, cause, postpones: postpones)
                            }
                            return try scanned.settleInSavepoint(fetched)
                        }
                    }
                    let causes = collisions.map { cause in
                        (BSONKey.encode(cause.documentID ?? .null), cause)
                    }
                    guard causes.isEmpty else {
                        throw Collided(causes: Dictionary(causes, uniquingKeysWith: { $1 }))
                    }
                    return settled
                }
                try end(extras)
                let postponed =
                    postpones ? fetchedDocuments.indices.filter { refused[keys[$0]] != nil } : []
                return (settled, postponed)
            } catch let collided as Collided {
                sync.noteRollback(to: mark)
                let known = refused.count
                for key in keys where refused[key] == nil { refused[key] = collided.causes[key] }
                // Each round refuses a further document, so that it ends.
                guard refused.count > known else {
                    throw collided.causes.values.first ?? StoreError(.internalError, "collision")
                }
            }
        }
    }

    /// Refuses a document whose unique value another one keeps.
    private func refuse(
        _ fetched: FetchedDocument, _ cause: StoreError, postpones: Bool
    ) throws -> FetchOutcome {
        guard postpones else { return try pause(fetched, cause) }
        if try DeviceDocuments(sync: sync).stageInstead(of: fetched, cause) { return .nothing }
        guard var record = try sync.current(fetched.record), record.pause == nil else {
            return .nothing
        }
        try sync.keepStale(&record)
        try sync.save(record)
        return .nothing
    }

    /// Settles one fetched document in a savepoint: an error stops that document only (R8).
    func settleInSavepoint(_ fetched: FetchedDocument) throws -> FetchOutcome {
        let mark = sync.storyMark
        do {
            return try sync.transaction.savepoint {
                try settle(fetched)
            }
        } catch let cause where SyncTransaction.concernsDocument(cause) {
            sync.noteRollback(to: mark)
            return try pause(fetched, cause)
        }
    }

    /// Pauses a document that cannot be stored here.
    private func pause(
        _ fetched: FetchedDocument, _ cause: any Error
    ) throws -> FetchOutcome {
        let error = SyncError(
            .unusableDocument, "the remote's document cannot be stored here: \(cause)",
            namespace: sync.namespace, documentID: fetched.record.documentID, underlying: cause)
        if try DeviceDocuments(sync: sync).stageInstead(of: fetched, cause) { return .nothing }
        // A write since the request must not be reverted.
        guard var record = try sync.current(fetched.record) else { return .nothing }
        guard record.revision == fetched.record.revision else {
            try sync.markStale(record)
            return .nothing
        }
        record.pause = PauseReason(error.code, error.message)
        try sync.save(record)
        return .failed(error)
    }
}
