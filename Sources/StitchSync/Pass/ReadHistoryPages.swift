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
    /// The next page is asked for while one is taken.
    ///
    /// - Parameter take: takes the news of a page, and stores the position after it.
    func read(
        after start: ResumeToken, _ take: (RemoteChangeBatch) async throws -> Void
    ) async throws {
        var size = PageSize(context.limits.changesPerRead)
        var budget = PageBudget(changesPerPage: size.count)
        var token = start
        guard var batch = try await page(after: start, atMost: size.count) else { return }
        while true {
            let (before, page, limit) = (token, batch, size.count)
            let hasMore = page.hasMore && page.token != before
            let goesOn = hasMore && budget.mayGoOn(after: page)
            @Sendable func following() async throws -> RemoteChangeBatch? {
                try await self.page(after: page.token, atMost: limit)
            }
            let ahead = try await context.ahead(goesOn ? following : nil) {
                guard page.token != before || !page.changes.isEmpty else { return }
                try await AdoptCopiedInserts(context: context).run(page)
                try await take(page)
            }
            guard hasMore else { return }
            guard let answer = ahead.answer else { throw budget.exhausted }
            guard let next = try answer.result.get() else { return }
            size.note(
                isLate: answer.isLate, entries: next.changes.count,
                bytes: next.changes.reduce(0) { $0 + ($1.toldDocument?.byteCount ?? 0) },
                atMost: context.limits.batchBytes)
            (token, batch) = (page.token, next)
        }
    }

    /// Returns the page after a position; `nil` where it is known that nothing follows.
    private func page(
        after token: ResumeToken, atMost limit: Int
    ) async throws -> RemoteChangeBatch? {
        switch context.engine.history?.takeNews(of: context.namespace, after: token) ?? .unknown {
        case .nothing: return nil
        case .changes(let found): return found
        case .unknown: break
        }
        let (echoes, store) = (context.engine.echoes, context.engine.store)
        let own = try echoes.operations(of: context.namespace, after: token, in: store)
        let batch = try await context.request { remote in
            try await remote.changes(
                after: token, limit: limit, waitingUpTo: .zero, leavingOut: own)
        }
        try echoes.noteReading(of: context.namespace, to: batch.token, in: store)
        return batch
    }

    /// Stores stale marks and their position in the history in one transaction.
    func markStale(_ batch: RemoteChangeBatch) async throws {
        try await context.write { sync in try MarkStale(sync: sync).mark(batch) }
    }
}

extension PageBudget {
    /// The error of a history with too many pages.
    fileprivate var exhausted: RemoteError {
        RemoteError(
            .retryable,
            "the history does not end: \(pages) pages were read, the last \(empty) of them empty; "
                + "a later pass continues there")
    }
}
