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

    /// Reads a page of some queries' results and stages it, with the position after it.
    ///
    /// - Parameter queries: the set's new queries; those from the progress on are read.
    func stagePage(
        of queries: [SubscriptionQuery], from progress: SubscriptionTable.Progress,
        set version: Int64
    ) async throws -> SubscriptionTable.Progress {
        let group = QueryGroup(in: queries, at: progress.query, atMost: progress.count)
        do {
            return switch try progress.reading ?? firstReading() {
            case .documents: try await stageDocuments(of: group, from: progress, set: version)
            case .versions: try await stageVersions(of: group, from: progress, set: version)
            }
        } catch let error as RemoteError where error.errorClass == .rejected {
            let next = progress.afterRefusal(by: error, of: group)
            try await context.write { sync in try sync.subscriptions.save(next, of: version) }
            return next
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
    private func stageDocuments(
        of group: QueryGroup, from progress: SubscriptionTable.Progress, set version: Int64
    ) async throws -> SubscriptionTable.Progress {
        let (filter, limit) = (group.filter, context.limits.batchDocuments)
        let page = try await context.request { remote in
            try await remote.find(matching: filter, after: progress.last, limit: limit)
        }
        let documents = try await usable(page.documents)
        let last = page.isLast ? nil : page.documents.last?.documentID
        let (fresh, next) = try await context.write { sync in
            let staging = StageDocument(sync: sync)
            var (fresh, known) = (0, 0)
            for document in documents {
                let outcome = try staging.stage(document)
                fresh += outcome == .stale || outcome == .stagedAgain ? 0 : 1
                known += outcome == .staged ? 0 : 1
            }
            let next = try self.progress(
                after: progress, group, last: last, count: documents.count, known: known)
            try sync.subscriptions.save(next, of: version)
            return (fresh, next)
        }
        countPage(group, next, count: page.documents.count, fresh: fresh)
        return next
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
        try checkDepth(documents)
        let bare = documents.filter { VersionField(of: $0) == .absent }.map(\.documentID)
        guard !bare.isEmpty else { return documents }
        try await ClaimVersions(context: context).claim(
            bare.map { SyncRecord(documentID: $0, byID: false) })
        let found = try await Fetch(context: context).find(bare).compactMap { lookup in
            if case .found(let document) = lookup { document } else { nil }
        }
        try checkDepth(found)
        return documents.filter { VersionField(of: $0) != .absent } + found
    }

    /// Checks that documents can be read again once they are staged.
    private func checkDepth(_ documents: [BSONDocument]) throws(RemoteError) {
        guard let deep = documents.first(where: RemoteEdition.isTooDeep) else { return }
        throw RemoteError(
            .retryable, "a page holds a document that is nested too deeply: \(deep.documentID)")
    }
}

// MARK: - Pages of versions

extension StageDocuments {
    private func stageVersions(
        of group: QueryGroup, from progress: SubscriptionTable.Progress, set version: Int64
    ) async throws -> SubscriptionTable.Progress {
        let filter = group.filter
        let limit =
            progress.reading == nil
            ? min(Self.firstPageMax, context.limits.batchDocuments) : context.limits.batchDocuments
        let page = try await context.request { remote in
            try await remote.versions(matching: filter, after: progress.last, limit: limit)
        }
        let (missing, next) = try await context.write { sync in
            let staging = StageDocument(sync: sync)
            let missing = try page.entries.filter { try !staging.isKnown($0) }.map(\.documentID)
            let next = try self.progress(
                after: progress, group, last: page.isLast ? nil : page.entries.last?.documentID,
                count: page.entries.count, known: page.entries.count - missing.count)
            if missing.isEmpty { try sync.subscriptions.save(next, of: version) }
            return (missing, next)
        }
        var fresh = page.entries.count - missing.count
        var rest = missing.map { SyncRecord(documentID: $0, byID: false) }
        while !rest.isEmpty {
            let (fetchedDocuments, left) = try await Fetch(context: context).documents(for: rest)
            rest = left
            fresh += try await stage(
                fetchedDocuments.compactMap {
                    if case .found(let found) = $0.lookup { found } else { nil }
                })
        }
        if !missing.isEmpty {
            try await context.write { sync in try sync.subscriptions.save(next, of: version) }
        }
        countPage(group, next, count: page.entries.count, fresh: fresh)
        return next
    }

    private func stage(_ found: [BSONDocument]) async throws -> Int {
        let documents = try await claimed(found)
        return try await context.write { sync in
            let staging = StageDocument(sync: sync)
            return try documents.count { document in
                try staging.stage(document) != .stale
            }
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
