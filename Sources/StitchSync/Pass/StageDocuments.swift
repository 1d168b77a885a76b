internal import BSONStore

/// The download of the documents of a subscription set's queries.
struct StageDocuments {
    let context: PassContext

    /// Reads a page of a query's results and stages it, with the position after it.
    func stagePage(
        of query: SubscriptionQuery, from progress: SubscriptionTable.Progress, set version: Int64
    ) async throws -> SubscriptionTable.Progress {
        let limit = context.limits.batchDocuments
        let page = try await context.request { remote in
            try await remote.find(matching: query.filter, after: progress.last, limit: limit)
        }
        if let deep = page.documents.first(where: RemoteEdition.isTooDeep) {
            throw RemoteError(
                .retryable, "a page holds a document that is nested too deeply: \(deep.documentID)")
        }
        let documents = try await claimed(page.documents)
        context.findings.count { $0.looked += documents.count }
        context.engine.progress.count { progress in
            progress.downloadedBytes += documents.reduce(0) { $0 + $1.byteCount }
        }
        var next = progress
        if page.isLast || page.documents.isEmpty {
            next.query += 1
            (next.last, next.read) = (nil, 0)
        } else {
            next.read += page.documents.count
            next.last = page.documents.last?.documentID
            guard next.last != progress.last else {
                throw RemoteError(
                    .retryable, "the pages of a query do not get on: one ended where it began")
            }
        }
        let place = next
        let isFirst = progress.query == 0
        let fresh = try await context.write { sync in
            let staging = StageDocument(sync: sync)
            let fresh = try documents.count { try staging.stage($0, isFirstQuery: isFirst) }
            try sync.subscriptions.save(place, of: version)
            return fresh
        }
        context.engine.progress.countPage(
            page.documents.count, fresh: fresh, ofQuery: progress.query,
            isLast: place.query > progress.query)
        return next
    }

    /// Returns the documents after it gave those without a version one (rule R6).
    private func claimed(_ documents: [BSONDocument]) async throws -> [BSONDocument] {
        let bare = documents.filter { VersionField(of: $0) == .absent }.map(\.documentID)
        guard !bare.isEmpty else { return documents }
        try await ClaimVersions(context: context).claim(
            bare.map { SyncRecord(documentID: $0, byID: false) })
        let found = try await Fetch(context: context).find(bare).compactMap { lookup in
            if case .found(let document) = lookup { document } else { nil }
        }
        return documents.filter { VersionField(of: $0) != .absent } + found
    }

    /// Requests the number of documents that match a query.
    ///
    /// It returns 0 where the remote does not report the number or fails; the download runs all the
    /// same.
    func documentCount(_ query: SubscriptionQuery) async throws -> Int {
        guard context.engine.writer.isOnline else { return 0 }
        do {
            return try await context.engine.requests.send(context.remote) { remote in
                try await remote.count(matching: query.filter)
            } ?? 0
        } catch is RemoteError {
            return 0
        }
    }
}
