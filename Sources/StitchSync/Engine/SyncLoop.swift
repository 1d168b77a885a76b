internal import BSONStore

extension SyncEngine {
    /// Syncs until the task is cancelled: a pass at once, then whenever something changes here or
    /// at the remote, and after a failure when the backoff says so.
    ///
    /// Runs in the caller's task, with child tasks that watch the remotes' histories.
    ///
    /// - Throws: `StoreError` when the store fails; returns when the task is cancelled.
    public func run() async throws {
        do {
            try await withThrowingTaskGroup(of: Void.self) { group in
                group.addTask { try await self.runPasses() }
                group.addTask { try await self.watchRemotes() }
                defer { group.cancelAll() }
                try await group.next()
            }
        } catch is CancellationError {
            return
        }
    }

    private func runPasses() async throws {
        var failures = 0
        var random = SystemRandomNumberGenerator()
        while true {
            try Task.checkCancellation()
            let seen = wakes.count
            let report = try await passUnlessOffline()
            passes.notify()
            guard let report else {
                await wakes.wait(after: seen)
                continue
            }
            if report.reachedRemote {
                failures = 0
                if report.isQuiet { await wakes.wait(after: seen) }
            } else {
                failures += 1
                let jitter = Double.random(in: 0..<1, using: &random)
                try await wakes.wait(
                    after: seen,
                    atMost: backoff.delay(afterFailures: failures, jitter: jitter), clock: clock)
            }
        }
    }

    private func passUnlessOffline() async throws -> SyncPassReport? {
        do {
            return try await syncNow()
        } catch let error as SyncError where error.code == .offline {
            return nil
        }
    }

    /// Follows the remote's history of each collection and wakes the loop on news.
    private func watchRemotes() async throws {
        var failures = 0
        while true {
            try Task.checkCancellation()
            let seen = passes.count
            let places = isOnline ? try watchedPlaces() : []
            guard !places.isEmpty else {
                await passes.wait(after: seen)
                continue
            }
            do {
                if try await watch(places, untilPassAfter: seen) {
                    wake()
                    await passes.wait(after: seen)
                }
                failures = 0
            } catch is RemoteError {
                failures += 1
                wake()
                try await clock.sleep(for: backoff.delay(afterFailures: failures, jitter: 0.5))
            }
        }
    }

    /// Where the last pass left each collection's history.
    private func watchedPlaces() throws -> [(Namespace, ResumeToken)] {
        try store.read { transaction in
            try SyncState(connection: transaction.connection).collections().compactMap {
                collection in collection.token.map { (collection.namespace, $0) }
            }
        }
    }

    /// Waits for a change in any collection, or for the next pass; tells whether there is a change.
    private func watch(
        _ places: [(Namespace, ResumeToken)], untilPassAfter seen: Int
    ) async throws -> Bool {
        try await withThrowingTaskGroup(of: Bool.self) { group in
            for (namespace, token) in places {
                group.addTask {
                    let batch = try await self.remote.collection(namespace).changes(
                        after: token, limit: 1, waitingUpTo: SyncLimits.watchWait)
                    return !batch.changes.isEmpty
                }
            }
            group.addTask {
                await self.passes.wait(after: seen)
                return false
            }
            defer { group.cancelAll() }
            return try await group.next() ?? false
        }
    }
}

extension SyncLimits {
    /// How long one wait for a remote change lasts at most.
    static let watchWait: Duration = .seconds(10)
}
