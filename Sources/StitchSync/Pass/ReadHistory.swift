internal import BSONStore

/// The reading of the remote's history (rule R4): changed documents are fetched and applied at once, or
/// get stale marks.
struct ReadHistory {
    let context: PassContext
    let applyRemote: ApplyRemote

    private var pages: ReadHistoryPages { ReadHistoryPages(context: context) }

    /// The treatment of documents that the history reports as changed.
    enum ChangedDocuments {
        /// Fetch and apply them before the new position is stored.
        case fetch
        /// Store a stale mark with the new position; a later pull fetches them.
        case markStale
    }

    /// Reads the history from the last position; where that is lost, compares all versions.
    func run(changed: ChangedDocuments) async throws {
        let collection = try context.read { $1 }
        var isAfterDrop = collection.isAfterDrop
        var lostToken = collection.lostToken ?? (collection.needsScan ? collection.token : nil)
        if let token = collection.token {
            do {
                switch changed {
                case .fetch where !collection.needsScan:
                    try await pages.read(after: token) { try await fetchChanged($0) }
                    if collection.owesNewcomers { try await askAgainForNewcomers() }
                case .fetch, .markStale:
                    // Also before a scan: it takes a new position, and only the history tells of deletes.
                    try await pages.markStale(after: token)
                }
                guard collection.needsScan else { return }
            } catch let error as RemoteError where error.endsHistory {
                // Events were missed, so the scan below compares every version.
                if error.errorClass == .collectionDropped, try await !isStillAdopted(collection) {
                    guard context.configuration.dropped == .remove else {
                        throw try await StopCollection(context: context).stop(
                            .collectionDropped, collection.identity ?? .unknown)
                    }
                    isAfterDrop = true
                }
                lostToken = lostToken ?? token
            }
        }
        try await scanVersions(isAfterDrop: isAfterDrop, since: lostToken)
    }

    /// Fetches changed documents and stores the new position with the last results.
    ///
    /// A document that the history reports whole, as the successor of the one here, is not fetched.
    /// Records that will be fetched anyway get a new stale mark instead; after an error of the
    /// remote, all of them do.
    private func fetchChanged(_ batch: RemoteChangeBatch) async throws {
        let (news, told, later) = try sorted(batch)
        let rest = RemoteChangeBatch(
            changes: later, token: batch.token, hasMore: batch.hasMore)
        guard !news.isEmpty || !told.isEmpty else { return try await pages.markStale(rest) }
        context.engine.progress.announce(news.count + told.count, in: context.namespace)
        do {
            try await applyRemote.settleTold(
                told, then: news.isEmpty ? .markStale(rest) : .nothing)
            try await applyRemote.apply(
                news, then: .markStale(rest), absenceCauses: batch.absenceCauses)
            context.engine.progress.announce(0, in: context.namespace)
        } catch let error where error is RemoteError || error is EngineOfflineError {
            context.engine.progress.announce(0, in: context.namespace)
            try await pages.markStale(batch)
            throw error
        }
    }

    /// Sorts what a page of the history reports: records of documents to fetch, documents to take as they
    /// were told, and changes of documents that get a stale mark.
    ///
    /// A document is taken if its changes on the page lead from the base's version to it one by one.
    private func sorted(
        _ batch: RemoteChangeBatch
    ) throws -> (news: [SyncRecord], told: [FetchedDocument], later: [RemoteChange]) {
        let sets = context.engine.sets
        return try context.snapshot { snapshot in
            var changed: [Int64: (record: SyncRecord, last: RemoteChange, follows: Bool)] = [:]
            var (rows, later): ([Int64], [RemoteChange]) = ([], [])
            for change in batch.changes {
                guard
                    let record = try snapshot.records.record(
                        of: change.documentID, in: snapshot.collection.rowID),
                    let row = record.rowID
                else { continue }
                if let known = changed[row] {
                    let follows = known.follows && change.follows(known.last.version)
                    changed[row] = (known.record, change, follows)
                } else if try record.isUnexplained || snapshot.isNews(change, to: record) {
                    if record.staleMark > 0 || record.attempt != nil || record.pause != nil {
                        later.append(change)
                    } else {
                        rows.append(row)
                        let follows = record.takesToldDocuments && change.follows(record.version)
                        changed[row] = (record, change, follows)
                    }
                }
            }
            var (news, told): ([SyncRecord], [FetchedDocument]) = ([], [])
            for (record, last, follows) in rows.compactMap({ changed[$0] }) {
                if follows, let document = last.toldDocument {
                    told.append(FetchedDocument(record, .found(document), [:]))
                } else {
                    news.append(record)
                }
            }
            if snapshot.collection.isSubscribed {
                news += try snapshot.newcomers(in: batch, snapshot.membership(sets))
                    .map { SyncRecord(documentID: $0, byID: false) }
            }
            return (news, told, later)
        }
    }

    /// Compares all versions by pages; only differing documents are fetched afterwards.
    ///
    /// It reads the position in the history first, so that later changes arrive through the
    /// history.
    ///
    /// - Parameters:
    ///   - isAfterDrop: whether a drop counts as the delete of each missing document.
    ///   - lostToken: the position before the gap in the history.
    private func scanVersions(isAfterDrop: Bool, since lostToken: ResumeToken?) async throws {
        let token = try await context.request { remote in
            try await remote.currentToken()
        }
        let (echoes, store) = (context.engine.echoes, context.engine.store)
        try echoes.noteReading(of: context.namespace, to: token, in: store)
        try await context.updateCollection { collection in
            collection.token = token
            collection.needsScan = true
            collection.isAfterDrop = isAfterDrop
            collection.lostToken = lostToken
        }
        try await compareVersions(isAfterDrop: isAfterDrop, since: lostToken)
        let isAnswered = try await FindNewcomers(context: context).run()
        try await context.updateCollection {
            ($0.needsScan, $0.isAfterDrop, $0.owesNewcomers) = (false, false, !isAnswered)
        }
    }

    /// Whether the remote has the adopted collection after its history told that it went: it was renamed
    /// away and back, or restored with its identity.
    private func isStillAdopted(_ collection: SyncCollectionState) async throws -> Bool {
        guard case .known? = collection.identity else { return false }
        return try await context.request { remote in try await remote.identity() }
            == collection.identity
    }

    /// Asks again for documents that a query did not return after a gap in the history, at each start and
    /// then now and then.
    private func askAgainForNewcomers() async throws {
        guard context.engine.failures.mayAskAgain(context.namespace),
            try await FindNewcomers(context: context, isRepeated: true).run()
        else { return }
        try await context.updateCollection { $0.owesNewcomers = false }
    }

    /// A page of records whose versions are compared.
    private struct VersionPage: Sendable {
        /// The records whose versions are asked for.
        let known: [SyncRecord]
        /// The records that are fetched whatever their version.
        let unknown: [SyncRecord]
        /// Documents with open attempts, after a drop: they are fetched anyway, and the drop counts
        /// as their delete, too.
        let uncertain: [SyncRecord]

        init(_ page: [SyncRecord], isAfterDrop: Bool) {
            known = page.filter {
                ($0.pause == nil || $0.isUnexplained || $0.isUndecodable) && $0.attempt == nil
                    && $0.base != .absent
            }
            // A pending insert behind a foreign version field has to be fetched, too.
            unknown = page.filter { record in
                let isForeign = if case .foreign = record.version { true } else { false }
                return record.base == .absent && record.pause == nil && record.staleMark == 0
                    && (!record.isPending || isForeign)
            }
            uncertain = isAfterDrop ? page.filter { $0.pause == nil && $0.attempt != nil } : []
        }

        var isEmpty: Bool { known.isEmpty && unknown.isEmpty && uncertain.isEmpty }
    }

    /// Asks for the versions of all records page by page and marks those that differ.
    private func compareVersions(
        isAfterDrop: Bool, since lostToken: ResumeToken?
    ) async throws {
        let context = context
        var last: Int64 = 0
        try await RequestsAhead(context: context).run {
            let after = last
            let page = try context.read { records, collection in
                try records.page(
                    of: .all, in: collection.rowID, after: after,
                    limit: context.limits.batchDocuments)
            }
            guard let row = page.last?.rowID else { return nil }
            last = row
            return VersionPage(page, isAfterDrop: isAfterDrop)
        } request: { page in
            let ids = page.known.map(\.documentID)
            guard !ids.isEmpty else { return [] }
            let found = try await context.request { remote in try await remote.versions(ids: ids) }
            guard found.count == ids.count else {
                throw RemoteError(
                    .retryable,
                    "the remote gave \(found.count) answers for \(ids.count) requested versions")
            }
            return found
        } take: { page, found in
            try await mark(page, found, isAfterDrop: isAfterDrop, since: lostToken)
        }
    }

    /// Marks the records of a page whose versions differ from the remote's.
    private func mark(
        _ page: VersionPage, _ found: [RemoteVersionLookup], isAfterDrop: Bool,
        since lostToken: ResumeToken?
    ) async throws {
        guard !page.isEmpty else { return }
        let (known, unknown, uncertain) = (page.known, page.unknown, page.uncertain)
        let absent = isAfterDrop ? [] : zip(known, found).filter { $1 == .absent }.map(\.0)
        let deleted = try await FindDeletes(context: context).keys(of: absent, since: lostToken)
        try await context.write { sync in
            let marks = MarkStale(sync: sync)
            for (record, lookup) in zip(known, found) {
                let isDeleted = isAfterDrop || deleted.contains(BSONKey.encode(record.documentID))
                try marks.compare(record, with: lookup, isDeleted: isDeleted)
            }
            for record in unknown { try sync.markStale(record) }
            for record in uncertain { try sync.markStale(record, .deleted) }
        }
    }
}

extension RemoteChangeBatch {
    /// The last reported causes of absence, by the documents' keys.
    fileprivate var absenceCauses: [[UInt8]: AbsenceCause] {
        var causes: [[UInt8]: AbsenceCause] = [:]
        for change in changes where change.isDelete || !causes.isEmpty {
            causes[BSONKey.encode(change.documentID)] = AbsenceCause(change)
        }
        return causes
    }
}
