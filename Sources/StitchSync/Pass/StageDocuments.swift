internal import BSONStore

/// The download of the documents of a subscription set's queries.
///
/// A page has whole documents while the device has few of those that match. Once it has most of
/// them, a page has ids and versions, and only the documents that differ are fetched (rule R16).
struct StageDocuments {
    let context: PassContext

    /// The largest number of ids on the first page of a query, which shows how many of its
    /// documents the device has.
    private static let firstPageMax = 100

    /// A page of some queries' results, as it is asked for.
    struct PageRequest: Sendable, Hashable {
        /// The index of the first query.
        let query: Int
        let count: Int
        /// The `_id` after which the page begins.
        let last: BSONValue?
        let reading: SubscriptionTable.Reading
    }

    /// The page that was asked for while the one before it was staged.
    struct PageAhead: Sendable {
        let request: PageRequest
        let answer: AnswerAhead<Page>
        /// The number of documents in it, if it is full.
        let size: PageSize
    }

    /// A page of some queries' results.
    enum Page: Sendable {
        case documents(RemotePage)
        case versions(RemoteVersionPage)

        fileprivate var count: Int {
            switch self {
            case .documents(let page): page.documents.count
            case .versions(let page): page.entries.count
            }
        }

        fileprivate var byteCount: Int {
            switch self {
            case .documents(let page): page.documents.reduce(0) { $0 + $1.byteCount }
            case .versions: 0
            }
        }
    }

    /// Reads a page of some queries' results and stages it, with the position after it; meanwhile it
    /// asks for the next page.
    ///
    /// A refusal is stored with what follows, unless it took several passes to be one.
    ///
    /// - Parameters:
    ///   - queries: the set's new queries; those from the progress on are read.
    ///   - ahead: the page that was asked for while the one before it was staged.
    func stagePage(
        of queries: [SubscriptionQuery], from progress: SubscriptionTable.Progress,
        set version: Int64, _ ahead: PageAhead?
    ) async throws -> (next: SubscriptionTable.Progress, ahead: PageAhead?) {
        let group = QueryGroup(in: queries, at: progress.query, atMost: progress.count)
        let failures = context.engine.failures
        let subjects = LastingFailures.Subject.all(of: group)
        do {
            let reading = try progress.reading ?? firstReading()
            let request = PageRequest(
                query: progress.query, count: progress.count, last: progress.last, reading: reading)
            var size = PageSize(context.limits.batchDocuments)
            let page: Page
            if let ahead, ahead.request == request {
                page = try ahead.answer.result.get()
                size = ahead.size
                size.note(
                    isLate: ahead.answer.isLate, entries: page.count, bytes: page.byteCount,
                    atMost: context.limits.batchBytes)
            } else {
                // The first page of versions shows how many of the documents the device has.
                let limit =
                    progress.reading == nil && reading == .versions
                    ? min(Self.firstPageMax, size.count) : size.count
                page = try await self.page(of: group, request, atMost: limit)
            }
            let staged =
                switch page {
                case .documents(let page):
                    try await stage(page, of: group, from: progress, set: version, size)
                case .versions(let page):
                    try await stage(page, of: group, from: progress, set: version, size)
                }
            failures.forget(subjects)
            return staged
        } catch let error as RemoteError where failures.isRefusal(error, of: subjects) {
            let next = progress.afterRefusal(by: error, of: group)
            if error.errorClass != .rejected || next.isStoredAfterRefusal {
                try await context.write { sync in try sync.subscriptions.save(next, of: version) }
            }
            if subjects.count == 1 { failures.forget(subjects) }
            return (next, nil)
        }
    }

    /// Asks for the next page while a body stages one.
    ///
    /// - Parameters:
    ///   - last: the `_id` after which the next page begins; `nil` after the last page.
    ///   - reading: what the next page has, as far as it is known.
    private func ahead(
        of group: QueryGroup, from progress: SubscriptionTable.Progress, after last: BSONValue?,
        _ reading: SubscriptionTable.Reading, _ size: PageSize,
        _ body: () async throws -> SubscriptionTable.Progress
    ) async throws -> (next: SubscriptionTable.Progress, ahead: PageAhead?) {
        guard let last else { return (try await body(), nil) }
        let request = PageRequest(
            query: progress.query, count: progress.count, last: last, reading: reading)
        @Sendable func following() async throws -> Page {
            try await page(of: group, request, atMost: size.count)
        }
        let (answer, next) = try await context.ahead(following, body)
        return (next, answer.map { PageAhead(request: request, answer: $0, size: size) })
    }

    private func page(
        of group: QueryGroup, _ request: PageRequest, atMost limit: Int
    ) async throws -> Page {
        let filter = group.filter
        return switch request.reading {
        case .documents:
            .documents(
                try await context.request { remote in
                    try await remote.find(matching: filter, after: request.last, limit: limit)
                })
        case .versions:
            .versions(
                try await context.request { remote in
                    try await remote.versions(matching: filter, after: request.last, limit: limit)
                })
        }
    }

    /// Returns what the first page of a query has: documents if the device has none.
    private func firstReading() throws -> SubscriptionTable.Reading {
        let sets = context.engine.sets
        return try context.snapshot { snapshot in
            let row = snapshot.collection.rowID
            let stored = SubscriptionTable(connection: snapshot.transaction.connection, cache: sets)
            return try snapshot.records.holds(.confirmed, in: row) || stored.hasStaged(in: row)
                ? .versions : .documents
        }
    }

    /// Returns the progress after a page.
    ///
    /// - Parameters:
    ///   - last: the `_id` of the page's last document; `nil` after the last page.
    ///   - known: the number of its documents that the device had already.
    private func progress(
        after progress: SubscriptionTable.Progress, _ group: QueryGroup, last: BSONValue?,
        count: Int, known: Int
    ) throws -> SubscriptionTable.Progress {
        guard let last else { return progress.afterEnd(of: group) }
        guard last != progress.last else {
            throw RemoteError(
                .retryable, "the pages of a query do not get on: one ended where it began")
        }
        var next = progress
        next.last = last
        next.read += count
        next.reading = known * 2 >= count ? .versions : .documents
        return next
    }

    private func countPage(
        _ group: QueryGroup, _ next: SubscriptionTable.Progress, count: Int, fresh: Int
    ) {
        context.engine.progress.countPage(
            count, fresh: fresh, ofQuery: group.queries.startIndex, isLast: next.last == nil)
    }
}

// MARK: - Pages of documents

extension StageDocuments {
    private func stage(
        _ page: RemotePage, of group: QueryGroup, from progress: SubscriptionTable.Progress,
        set version: Int64, _ size: PageSize
    ) async throws -> (next: SubscriptionTable.Progress, ahead: PageAhead?) {
        let last = page.isLast ? nil : page.documents.last?.documentID
        return try await ahead(of: group, from: progress, after: last, .documents, size) {
            let documents = try await usable(page.documents)
            let (outcomes, next) = try await commit(documents) { sync, outcomes in
                let next = try self.progress(
                    after: progress, group, last: last, count: documents.count,
                    known: outcomes.count(where: \.wasKnown))
                try sync.subscriptions.save(next, of: version)
                return next
            }
            countPage(
                group, next, count: page.documents.count,
                fresh: outcomes.count(where: \.isCounted))
            return next
        }
    }

    /// Stages documents, or inserts those that the app sees now, in one transaction.
    ///
    /// If a document cannot be stored, each is stored in a savepoint of its own.
    ///
    /// - Parameter end: stores what belongs to the same commit.
    private func commit<R: Sendable>(
        _ documents: [BSONDocument],
        then end: @escaping @Sendable (SyncTransaction, [StageDocument.Outcome]) throws -> R
    ) async throws -> (outcomes: [StageDocument.Outcome], result: R) {
        @Sendable func stage(individually: Bool) async throws -> ([StageDocument.Outcome], R) {
            try await context.write { sync in
                let step = StageDocument(sync: sync, individually: individually)
                let outcomes = try step.stage(documents)
                return (outcomes, try end(sync, outcomes))
            }
        }
        let (outcomes, result): ([StageDocument.Outcome], R)
        do {
            (outcomes, result) = try await stage(individually: false)
        } catch let cause where SyncTransaction.concernsDocument(cause) {
            (outcomes, result) = try await stage(individually: true)
        }
        for case .arrived(let error) in outcomes {
            context.findings.count { $0.taken += 1 }
            if let error { context.findings.add(error) }
        }
        return (outcomes, result)
    }

    /// Returns fetched documents after it gave those without a version one (rule R6), and counts
    /// them.
    private func usable(_ documents: [BSONDocument]) async throws -> [BSONDocument] {
        let documents = try await claimed(documents)
        context.findings.count { $0.looked += documents.count }
        context.engine.progress.count { progress in
            progress.downloadedBytes += documents.reduce(0) { $0 + $1.byteCount }
        }
        return documents
    }

    private func claimed(_ documents: [BSONDocument]) async throws -> [BSONDocument] {
        let documents = try await withoutDeep(documents)
        let bare = documents.filter { VersionField(of: $0) == .absent }.map(\.documentID)
        guard !bare.isEmpty else { return documents }
        try await ClaimVersions(context: context).claim(
            bare.map { SyncRecord(documentID: $0, byID: false) })
        let found = try await Fetch(context: context).find(bare).compactMap { lookup in
            if case .found(let document) = lookup { document } else { nil }
        }
        let claimed = try await withoutDeep(found)
        return documents.filter { VersionField(of: $0) != .absent } + claimed
    }

    /// Returns the documents without those that are nested too deeply to be read once they are stored.
    ///
    /// Each of these is fetched by its id later, which pauses it: the rest of the page goes on (rule
    /// R8).
    private func withoutDeep(_ documents: [BSONDocument]) async throws -> [BSONDocument] {
        let deep = documents.filter(RemoteEdition.isTooDeep).map(\.documentID)
        guard !deep.isEmpty else { return documents }
        try await context.write { sync in
            for id in deep {
                if let known = try sync.record(id) { try sync.markStale(known) }
            }
            let wanted = try deep.filter { try sync.record($0) == nil }
            try sync.wantedIDs.add(wanted[...], in: sync.collection.rowID, byID: false)
        }
        return documents.filter { !RemoteEdition.isTooDeep($0) }
    }
}

// MARK: - Pages of versions

extension StageDocuments {
    private func stage(
        _ page: RemoteVersionPage, of group: QueryGroup, from progress: SubscriptionTable.Progress,
        set version: Int64, _ size: PageSize
    ) async throws -> (next: SubscriptionTable.Progress, ahead: PageAhead?) {
        let last = page.isLast ? nil : page.entries.last?.documentID
        let (missing, again, next) = try await context.write { sync in
            let staging = StageDocument(sync: sync)
            var (missing, again): ([BSONValue], Int) = ([], 0)
            for entry in page.entries {
                switch try staging.compare(entry) {
                case .missing: missing.append(entry.documentID)
                case .known: break
                case .arrivedAgain: again += 1
                }
            }
            let next = try self.progress(
                after: progress, group, last: last, count: page.entries.count,
                known: page.entries.count - missing.count)
            if missing.isEmpty { try sync.subscriptions.save(next, of: version) }
            return (missing, again, next)
        }
        return try await ahead(
            of: group, from: progress, after: last, next.reading ?? .versions, size
        ) {
            let fresh = page.entries.count - missing.count - again + (try await stage(missing))
            if !missing.isEmpty {
                try await context.write { sync in try sync.subscriptions.save(next, of: version) }
            }
            countPage(group, next, count: page.entries.count, fresh: fresh)
            return next
        }
    }

    /// Fetches and stages documents; returns the number of those that are not stale.
    private func stage(_ missing: [BSONValue]) async throws -> Int {
        var (fresh, left) = (0, missing[...])
        try await Fetch(context: context).batches {
            left.takeFirst(context.limits.batchDocuments).map { ids in
                Fetch.Batch(records: ids.map { SyncRecord(documentID: $0, byID: false) })
            }
        } take: { fetchedDocuments, _ in
            fresh += try await stage(
                fetchedDocuments.compactMap {
                    if case .found(let found) = $0.lookup { found } else { nil }
                })
        }
        return fresh
    }

    private func stage(_ found: [BSONDocument]) async throws -> Int {
        let documents = try await claimed(found)
        let (outcomes, _) = try await commit(documents) { _, _ in }
        return outcomes.count { outcome in
            if case .stale = outcome { false } else { true }
        }
    }
}

extension StageDocuments {
    /// Requests the number of documents that match some queries.
    ///
    /// It returns 0 where the remote does not report the number or fails; the download runs all the
    /// same.
    func documentCount(_ group: QueryGroup) async throws -> Int {
        guard context.engine.writer.isOnline else { return 0 }
        let filter = group.filter
        do {
            return try await context.engine.requests.send(context.remote) { remote in
                try await remote.count(matching: filter)
            } ?? 0
        } catch is RemoteError {
            return 0
        }
    }
}
