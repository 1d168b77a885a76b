internal import BSONStore

/// The search for documents that match the active set and have no record.
struct FindNewcomers {
    let context: PassContext
    /// Whether the search is repeated for queries that the remote refused in an earlier one.
    ///
    /// The app was told of these refusals then. A further error ends the search, and not the pass.
    var isRepeated = false

    /// Requests the ids of documents that match the active set and have no record; after a gap in
    /// the history, nothing else reports them.
    ///
    /// - Returns: whether the remote answered each query.
    func run() async throws -> Bool {
        let sets = context.engine.sets
        guard try context.read({ $1.isSubscribed }) else { return true }
        if !isRepeated {
            try await context.write { sync in try sync.subscriptions.cancelBootstrap() }
        }
        var queries = try context.engine.store.read { transaction in
            try SubscriptionTable(connection: transaction.connection, cache: sets).history().held
                .queries.index(of: context.namespace)?.queries ?? []
        }
        let failures = context.engine.failures
        // Those that were answered get their changes by the history.
        if isRepeated, let refused = failures.refusedNewcomers(in: context.namespace) {
            queries = queries.filter(refused.contains)
        }
        queries = QueryGroup.order(queries)
        var (place, count) = (0, QueryGroup.countMax)
        var (refused, reported): ([SubscriptionQuery], [RemoteError]) = ([], [])
        var splits = 0
        defer { failures.noteRefusedNewcomers(refused, in: context.namespace) }
        while place < queries.count {
            let group = QueryGroup(in: queries, at: place, atMost: count)
            do {
                try await find(group)
                count = min(QueryGroup.countMax, 2 * count)
            } catch let error as RemoteError {
                guard isRefusal(error, of: group) else {
                    refused += queries[place...]
                    if isRepeated { return false }
                    throw error
                }
                // One of several queries may be the reason: fewer are asked for together.
                if group.queries.count > 1, !isRepeated || splits < Self.splitsMax {
                    splits += 1
                    count = group.queries.count / 2
                    continue
                }
                refused += group.queries
                if !isRepeated, !reported.contains(error) {
                    reported.append(error)
                    report(error)
                }
            }
            place = group.queries.endIndex
        }
        return refused.isEmpty
    }

    /// The number of refusals after which a repeated search does not divide queries any further.
    private static let splitsMax = 20

    private func isRefusal(_ error: RemoteError, of group: QueryGroup) -> Bool {
        isRepeated
            ? error.errorClass == .rejected || error.isAnswer
            : context.engine.failures.isRefusal(error, of: LastingFailures.Subject.all(of: group))
    }

    /// Reports a refused query to the app; local documents stay and are synced.
    private func report(_ error: RemoteError) {
        context.findings.add(
            SyncError(
                .subscriptionFailed, error.description, namespace: context.namespace,
                underlying: error))
    }

    private func find(_ group: QueryGroup) async throws {
        let (filter, limit) = (group.filter, context.limits.batchDocuments)
        var last: BSONValue?
        while true {
            let after = last
            let page = try await context.request { remote in
                try await remote.versions(matching: filter, after: after, limit: limit)
            }
            let ids = page.entries.map(\.documentID)
            try await context.write { sync in try MarkStale(sync: sync).wantNewcomers(ids) }
            guard !page.isLast, let end = ids.last else { break }
            last = end
        }
        context.engine.failures.forget(LastingFailures.Subject.all(of: group))
    }
}
