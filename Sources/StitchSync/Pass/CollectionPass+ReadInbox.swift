internal import BSONStore

/// The conversion of the remote's history into stale marks on documents to fetch (rule R4).
extension CollectionPass {
    /// Reads the history from the last position; where that is lost, compares all versions.
    ///
    /// - Parameter looking: whether to fetch changed documents before storing the new position.
    mutating func readInbox(looking: Bool) async throws {
        let collection = try read { $1 }
        var isAfterDrop = collection.isAfterDrop
        var lostToken = collection.lostToken ?? (collection.needsScan ? collection.token : nil)
        if let token = collection.token, !collection.needsScan {
            do {
                try await readChanges(after: token, looking: looking)
                return
            } catch let error as RemoteError where error.endsHistory {
                // Events were missed, so the scan below compares every version.
                if error.errorClass == .collectionDropped {
                    guard configuration.dropped == .remove else {
                        throw try await stop(.collectionDropped, collection.identity ?? .unknown)
                    }
                    isAfterDrop = true
                }
                lostToken = lostToken ?? token
            }
        }
        try await scan(isAfterDrop: isAfterDrop, since: lostToken)
    }

    /// Reads the history from a position to its end.
    ///
    /// - Parameter looking: whether to fetch changed documents before storing the new position.
    mutating func readChanges(after start: ResumeToken, looking: Bool) async throws {
        var token = start
        var hasMore = true
        let limit = limits.changesPerRead
        var budget = PageBudget(changesPerPage: limit)
        while hasMore {
            let after = token
            let batch = try await request { remote in
                try await remote.changes(after: after, limit: limit, waitingUpTo: .zero)
            }
            if batch.token != token || !batch.changes.isEmpty {
                if looking { try await takeIn(batch) } else { try await keep(batch) }
            }
            hasMore = batch.hasMore && batch.token != token
            if hasMore { try budget.spend(batch) }
            token = batch.token
        }
    }

    /// Fetches changed documents and stores the new position with the last results.
    ///
    /// Records that will be fetched anyway get a new stale mark instead; after an error of the
    /// remote, all of them do.
    private mutating func takeIn(_ batch: RemoteChangeBatch) async throws {
        var later: [RemoteChange] = []
        let sets = engine.sets
        let news = try snapshot { snapshot in
            var rows: Set<Int64> = []
            var news: [SyncRecord] = []
            for change in batch.changes {
                guard
                    let record = try snapshot.records.record(
                        snapshot.collection.rowID, id: change.documentID),
                    let row = record.rowID, !rows.contains(row),
                    try record.isUnexplained || snapshot.isNews(change, to: record)
                else { continue }
                if record.hint > 0 || record.attempt != nil || record.pause != nil {
                    later.append(change)
                } else {
                    rows.insert(row)
                    news.append(record)
                }
            }
            if snapshot.collection.isSubscribed {
                news += try snapshot.newcomers(in: batch, snapshot.membership(sets))
                    .map { SyncRecord(documentID: $0, byID: false) }
            }
            return news
        }
        let rest = RemoteChangeBatch(
            changes: later, token: batch.token, hasMore: batch.hasMore)
        guard !news.isEmpty else { return try await keep(rest) }
        engine.progress.announce(news.count, in: namespace)
        do {
            for start in stride(from: 0, to: news.count, by: limits.batchDocuments) {
                let end = min(start + limits.batchDocuments, news.count)
                try await look(
                    at: Array(news[start..<end]), then: end == news.count ? .keep(rest) : .nothing,
                    told: batch.told)
            }
            engine.progress.announce(0, in: namespace)
        } catch let error as RemoteError {
            engine.progress.announce(0, in: namespace)
            try await keep(batch)
            throw error
        }
    }

    /// Stores stale marks and their position in the history in one transaction.
    private func keep(_ batch: RemoteChangeBatch) async throws {
        try await write { sync in try sync.keep(batch) }
    }

    /// Compares all versions by pages; only differing documents are fetched afterwards.
    ///
    /// It reads the position in the history first, so that later changes arrive through the
    /// history.
    ///
    /// - Parameters:
    ///   - isAfterDrop: whether a drop counts as the delete of each missing document.
    ///   - lostToken: the position before the gap in the history.
    private mutating func scan(isAfterDrop: Bool, since lostToken: ResumeToken?) async throws {
        let token = try await request { remote in
            try await remote.currentToken()
        }
        try await updateCollection { collection in
            collection.token = token
            collection.needsScan = true
            collection.isAfterDrop = isAfterDrop
            collection.lostToken = lostToken
        }
        var last: Int64 = 0
        while let next = try await scanPage(after: last, since: lostToken) { last = next }
        try await scanForNewcomers()
        try await updateCollection { ($0.needsScan, $0.isAfterDrop) = (false, false) }
    }

    private mutating func scanPage(
        after row: Int64, since lostToken: ResumeToken?
    ) async throws -> Int64? {
        let limit = limits.batchDocuments
        let (page, isAfterDrop) = try read { records, collection in
            let page = try records.records(.all, in: collection.rowID, after: row, limit: limit)
            return (page, collection.isAfterDrop)
        }
        guard let last = page.last?.rowID else { return nil }
        let known = page.filter {
            ($0.pause == nil || $0.isUnexplained) && $0.attempt == nil && $0.base != .absent
        }
        let ids = known.map(\.documentID)
        let found =
            ids.isEmpty
            ? []
            : try await request { remote in
                try await remote.versions(ids: ids)
            }
        guard found.count == ids.count else {
            throw RemoteError(
                .retryable, "asked for \(ids.count) versions, got \(found.count) answers")
        }
        // A pending insert behind a foreign version field has to be fetched, too.
        let unknown = page.filter { record in
            let isForeign = if case .foreign = record.version { true } else { false }
            return record.base == .absent && record.pause == nil && record.hint == 0
                && (!record.isPending || isForeign)
        }
        // Documents with open attempts are fetched anyway; the drop counts as their delete, too.
        let uncertain = isAfterDrop ? page.filter { $0.pause == nil && $0.attempt != nil } : []
        guard !known.isEmpty || !unknown.isEmpty || !uncertain.isEmpty else { return last }
        let absent = isAfterDrop ? [] : zip(known, found).filter { $1 == .absent }.map(\.0)
        let deleted = try await deletedByEvidence(absent, since: lostToken)
        try await write { sync in
            for (record, lookup) in zip(known, found) {
                let isDeleted = isAfterDrop || deleted.contains(BSONKey.encode(record.documentID))
                try sync.compare(record, with: lookup, isDeleted: isDeleted)
            }
            for record in unknown { try sync.hint(record) }
            for record in uncertain { try sync.hint(record, .deleted) }
        }
        return last
    }
}

extension RemoteChangeBatch {
    /// The last reported causes of absence, by the documents' keys.
    fileprivate var told: [[UInt8]: AbsenceCause] {
        var told: [[UInt8]: AbsenceCause] = [:]
        for change in changes where change.isDelete || !told.isEmpty {
            told[BSONKey.encode(change.documentID)] = AbsenceCause(change)
        }
        return told
    }
}

extension SyncTransaction {
    /// Stores stale marks and their position in the history.
    func keep(_ batch: RemoteChangeBatch) throws {
        for change in batch.changes { try note(change) }
        if collection.isSubscribed {
            let newcomers = try snapshot.newcomers(in: batch, membership)
            if !newcomers.isEmpty {
                try records.addWanted(newcomers[...], in: collection.rowID, byID: false)
            }
        }
        var collection = collection
        collection.token = batch.token
        try state.save(collection)
    }

    /// Notes a change, unless the record contains it already.
    ///
    /// A paused document is not fetched before its pause ends; the noted change counts then.
    func note(_ change: RemoteChange) throws {
        guard let record = try record(change.documentID) else { return }
        // A missing document exists again, even if unchanged.
        if record.isUnexplained { return try liftUnexplained(record, AbsenceCause(change)) }
        guard try snapshot.isNews(change, to: record) else { return }
        try hint(record, AbsenceCause(change))
    }

    /// Marks a record as stale, so that the document is fetched.
    ///
    /// - Parameter told: the cause of absence for the fetch; `nil` keeps the previous one.
    func hint(_ record: SyncRecord, _ told: AbsenceCause? = nil) throws {
        guard let row = record.rowID else { return }
        let told = told ?? AbsenceCause(hint: record.hint)
        try records.setStale(row: row, to: told.hint(try nextStaleMark()))
    }

    /// Returns a new stale mark for a record whose pause ends; it keeps the cause of absence.
    ///
    /// A drop of the collection is no longer a cause then.
    func renewedStaleMark(of record: SyncRecord) throws -> Int64 {
        let told = AbsenceCause(hint: record.hint)
        return (told == .dropped ? .nothing : told).hint(try nextStaleMark())
    }

    /// Marks a document as stale whose version or fingerprint differs from the base's.
    ///
    /// - Parameter isDeleted: whether there is evidence of the delete of a missing document.
    func compare(
        _ old: SyncRecord, with lookup: RemoteVersionLookup, isDeleted: Bool
    ) throws {
        guard let record = try record(old.documentID) else { return }
        switch lookup {
        case .absent:
            if isDeleted, record.isUnexplained { return try liftUnexplained(record, .deleted) }
            try hint(record, isDeleted ? .deleted : nil)
        case .found where record.isUnexplained: try liftUnexplained(record)
        case .found(let version, let content):
            if record.isRowMissing(local: try local(record.documentID)) { return try hint(record) }
            if version == .absent || version != record.version { return try hint(record) }
            if let content, try !snapshot.isBase(content, of: record) { try hint(record) }
        }
    }
}
