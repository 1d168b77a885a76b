internal import BSONStore

/// The pages of the remote's history, read from a position to its end.
struct ReadHistoryPages {
    let context: PassContext

    /// Reads the history to its end and stores stale marks, without fetching the documents.
    func markStale(after start: ResumeToken) async throws {
        try await read(after: start) { try await markStale($0) }
    }

    /// Reads the history from a position to its end.
    ///
    /// - Parameter take: takes the news of a page, and stores the position after it.
    func read(
        after start: ResumeToken, _ take: (RemoteChangeBatch) async throws -> Void
    ) async throws {
        var token = start
        var hasMore = true
        let limit = context.limits.changesPerRead
        var budget = PageBudget(changesPerPage: limit)
        while hasMore {
            let after = token
            let batch: RemoteChangeBatch
            switch context.engine.history?.takeNews(of: context.namespace, after: after) ?? .unknown
            {
            case .nothing: return
            case .changes(let found): batch = found
            case .unknown:
                let (echoes, store) = (context.engine.echoes, context.engine.store)
                let own = try echoes.operations(of: context.namespace, after: after, in: store)
                batch = try await context.request { remote in
                    try await remote.changes(
                        after: after, limit: limit, waitingUpTo: .zero, leavingOut: own)
                }
                try echoes.noteReading(of: context.namespace, to: batch.token, in: store)
            }
            if batch.token != token || !batch.changes.isEmpty {
                try await AdoptCopiedInserts(context: context).run(batch)
                try await take(batch)
            }
            hasMore = batch.hasMore && batch.token != token
            if hasMore { try budget.spend(batch) }
            token = batch.token
        }
    }

    /// Stores stale marks and their position in the history in one transaction.
    func markStale(_ batch: RemoteChangeBatch) async throws {
        try await context.write { sync in try MarkStale(sync: sync).mark(batch) }
    }
}

extension PageBudget {
    /// Notes a page as ``mayGoOn(after:)`` does.
    ///
    /// - Throws: `RemoteError` of class `.retryable` after too many pages.
    mutating func spend(_ batch: RemoteChangeBatch) throws {
        guard !mayGoOn(after: batch) else { return }
        throw RemoteError(
            .retryable,
            "the history does not end: \(pages) pages were read, the last \(empty) of them empty; "
                + "a later pass continues there")
    }
}
