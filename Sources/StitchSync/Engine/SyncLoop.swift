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
        } catch is CancellationError where Task.isCancelled {
            return
        }
    }

    private func runPasses() async throws {
        var failures = 0
        var random = SystemRandomNumberGenerator()
        while true {
            try Task.checkCancellation()
            let seen = wakes.count
            switch try await passUnlessOffline() {
            case .offline:
                passes.notify()
                await wakes.wait(after: seen)
            case .done(let isQuiet):
                passes.notify()
                failures = 0
                if isQuiet { try await waitForWork(after: seen) }
            case .failed:
                passes.notify()
                failures += 1
                let jitter = Double.random(in: 0..<1, using: &random)
                try await wakes.wait(
                    after: seen,
                    atMost: backoff.delay(afterFailures: failures, jitter: jitter), clock: clock)
            }
        }
    }

    private enum PassResult {
        case done(isQuiet: Bool)
        case failed
        case offline
    }

    /// Runs a pass; a store that is busy or full for a while is a failure like the remote's.
    private func passUnlessOffline() async throws -> PassResult {
        do {
            let report = try await syncNow()
            return report.reachedRemote ? .done(isQuiet: report.isQuiet) : .failed
        } catch let error as SyncError where error.code == .offline {
            return .offline
        } catch let error as StoreError where [.busy, .diskFull, .ioError].contains(error.code) {
            return .failed
        }
    }

    /// Waits for a wake, or for another process to write something that is to be sent.
    private func waitForWork(after seen: Int) async throws {
        let before = try sendingSignature()
        while wakes.count == seen {
            try await wakes.wait(
                after: seen, atMost: SyncLimits.otherProcessesEvery, clock: clock)
            if try sendingSignature() != before { return }
        }
    }

    private func sendingSignature() throws -> [Int64] {
        try store.read { transaction in
            try SyncRecords(connection: transaction.connection).sendingSignature()
        }
    }

    /// Follows the remote's history of each collection and wakes the loop on news.
    private func watchRemotes() async throws {
        while true {
            try Task.checkCancellation()
            let seen = passes.count
            let places = isOnline ? try watchedPlaces() : []
            guard !places.isEmpty else {
                await passes.wait(after: seen)
                continue
            }
            if try await watch(places, untilPassAfter: seen) {
                wake()
                await passes.wait(after: seen)
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
                group.addTask { try await self.watch(namespace, after: token) }
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

extension SyncEngine {
    /// Waits for a change in one collection; one that cannot be watched does not disturb others.
    private func watch(_ namespace: Namespace, after token: ResumeToken) async throws -> Bool {
        do throws(RemoteError) {
            let batch = try await remote.collection(namespace).changes(
                after: token, limit: 1, waitingUpTo: SyncLimits.watchWait)
            return !batch.changes.isEmpty
        } catch {
            if error.errorClass == .historyLost { return true }
            try await clock.sleep(for: backoff.delay(afterFailures: 5, jitter: 1))
            return false
        }
    }
}

extension SyncLimits {
    /// How often a quiet engine looks for what other processes wrote.
    static let otherProcessesEvery: Duration = .seconds(1)
    /// How long one wait for a remote change lasts at most.
    static let watchWait: Duration = .seconds(10)
}
