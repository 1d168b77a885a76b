internal import BSONStore

extension SyncEngine {
    /// Syncs until the task is cancelled: a pass at once, then whenever something changes here or
    /// at the remote, and after a failure when the backoff says so.
    ///
    /// Runs in the caller's task, with child tasks that watch the remotes' histories.
    ///
    /// - Throws: `StoreError` when the store fails; returns when the task is cancelled.
    public func run() async throws {
        let (wakes, wake) = AsyncStream.makeStream(
            of: Void.self, bufferingPolicy: .bufferingNewest(1))
        state.withLock { $0.wake = wake }
        defer {
            state.withLock { $0.wake = nil }
            wake.finish()
        }
        let (delays, delay) = AsyncStream.makeStream(
            of: Duration.self, bufferingPolicy: .bufferingNewest(1))
        defer { delay.finish() }
        wake.yield()
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { try await self.runPasses(on: wakes, retryingAfter: delay) }
            group.addTask { try await self.wakeLater(delays) }
            group.addTask { try await self.watchRemotes() }
            defer { group.cancelAll() }
            do {
                try await group.next()
            } catch is CancellationError {
                return
            }
        }
    }

    private func runPasses(
        on wakes: AsyncStream<Void>, retryingAfter delay: AsyncStream<Duration>.Continuation
    ) async throws {
        var failures = 0
        var random = SystemRandomNumberGenerator()
        for await _ in wakes {
            guard isOnline else { continue }
            let report: SyncPassReport
            do {
                report = try await syncNow()
            } catch let error as SyncError where error.code == .offline {
                continue
            }
            failures = report.reachedRemote ? 0 : failures + 1
            if failures > 0 {
                let jitter = Double.random(in: 0..<1, using: &random)
                delay.yield(backoff.delay(afterFailures: failures, jitter: jitter))
            } else if !report.isQuiet {
                wake()
            }
        }
    }

    /// Wakes the loop after each delay; a wake that comes earlier does not wait for it.
    private func wakeLater(_ delays: AsyncStream<Duration>) async throws {
        for await delay in delays {
            try await clock.sleep(for: delay)
            wake()
        }
    }

    /// Follows the remote's history of each collection and wakes the loop on news.
    private func watchRemotes() async throws {
        var failures = 0
        while !Task.isCancelled {
            let waits = try watchedPlaces()
            do {
                if isOnline, let (namespace, token) = waits.first, waits.count == 1 {
                    try await watch(namespace, after: token)
                } else if isOnline, !waits.isEmpty {
                    try await watchAny(waits)
                } else {
                    try await clock.sleep(for: SyncLimits.watchPause)
                }
                failures = 0
            } catch let error as RemoteError {
                failures += error.errorClass == .historyLost ? 0 : 1
                wake()
                try await clock.sleep(
                    for: backoff.delay(afterFailures: max(failures, 1), jitter: 0.5))
            }
        }
    }

    private func watchedPlaces() throws -> [(Namespace, ResumeToken)] {
        try store.read { transaction in
            try SyncState(connection: transaction.connection).collections().compactMap {
                collection in collection.token.map { (collection.namespace, $0) }
            }
        }
    }

    private func watchAny(_ places: [(Namespace, ResumeToken)]) async throws {
        try await withThrowingTaskGroup(of: Void.self) { group in
            for (namespace, token) in places {
                group.addTask { try await self.watch(namespace, after: token) }
            }
            defer { group.cancelAll() }
            try await group.next()
        }
    }

    /// Waits for a change; the pass that it wakes reads it again and stores it.
    private func watch(_ namespace: Namespace, after token: ResumeToken) async throws {
        let batch = try await remote.collection(namespace).changes(
            after: token, limit: 1, waitingUpTo: SyncLimits.watchPause)
        if !batch.changes.isEmpty {
            wake()
            try await clock.sleep(for: SyncLimits.watchSpacing)
        }
    }
}

extension SyncLimits {
    /// How long one wait for a remote change lasts at most.
    static let watchPause: Duration = .seconds(10)
    /// The least time between two wakes by remote changes, so that a burst becomes one pass.
    static let watchSpacing: Duration = .milliseconds(5)
}
