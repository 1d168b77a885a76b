internal import BSONStore

extension SyncEngine {
    /// Syncs until the task is cancelled: a pass at once, then whenever something changes here or
    /// at the remote, and after a failure when the backoff says so.
    ///
    /// Runs in the caller's task, with child tasks that watch the remotes' histories.
    ///
    /// - Throws: `StoreError` when the store fails; returns when the task is cancelled, and after
    ///   ``close()``.
    public func run() async throws {
        do {
            try await withThrowingTaskGroup(of: Void.self) { group in
                let last = Locked(LastPass())
                group.addTask { try await self.runPasses(last) }
                group.addTask { try await self.watchRemotes(last) }
                group.addTask { await self.watchNetwork() }
                defer { group.cancelAll() }
                while try await group.next() != nil {}
            }
        } catch is CancellationError where Task.isCancelled {
            return
        } catch let error as StoreError where error.code == .closed && isClosed {
            return
        }
    }

    /// - Parameter lastPass: what the passes tell those who watch the remotes.
    private func runPasses(_ lastPass: Locked<LastPass>) async throws {
        var failures = 0
        var random = SystemRandomNumberGenerator()
        var agenda = SyncScheduler(clock: clock)
        var patience = PassRetryPolicy()
        while true {
            try Task.checkCancellation()
            try checkIsOpen()
            let seen = wakes.count
            do {
                if try await runPass(&agenda, &patience, lastPass, after: seen) {
                    failures = 0
                    continue
                }
            } catch let error as StoreError where error.mayPass {
                // A store that is busy or full for a while is a failure like the remote's.
                lastPass.withLock { $0 = LastPass(isFailing: true) }
                passes.notify()
            }
            failures += 1
            let jitter = Double.random(in: 0..<1, using: &random)
            try await wakes.wait(
                after: seen,
                atMost: backoff.delay(afterFailures: failures, jitter: jitter), clock: clock)
            // Who wakes the loop begins the waits anew.
            if wakes.count != seen { failures = 0 }
        }
    }

    /// Runs a pass if one is due, and waits until there may be more to do; `false`, without a wait, when
    /// the remote was not reached.
    private func runPass(
        _ agenda: inout SyncScheduler, _ patience: inout PassRetryPolicy,
        _ lastPass: Locked<LastPass>,
        after seen: Int
    ) async throws -> Bool {
        let written = try workSignature()
        let (due, rest) = agenda.due(try frequencies())
        guard try !due.isEmpty || isSetWaiting() else {
            try await waitForWork(after: seen, written, atMost: rest)
            return true
        }
        let result = try await runPassIfOnline(due, &patience)
        lastPass.withLock { $0 = LastPass(isFailing: result.isFailure, isQuiet: result.isQuiet) }
        passes.notify()
        switch result {
        case .failed, .stopped, .stuck: return false
        case .offline, .signedOut: await wakes.wait(after: seen)
        case .done(let isQuiet):
            guard isQuiet else { break }
            agenda.recordIdle(due)
            try await waitForWork(after: seen, written, atMost: agenda.due(frequencies()).rest)
        }
        return true
    }

    /// When each collection is synced.
    private func frequencies() throws -> [(Namespace, SyncFrequency)] {
        let namespaces = try store.read { transaction in
            try SyncStateTable(connection: transaction.connection).collections().map(\.namespace)
        }
        return namespaces.map { ($0, frequency(of: $0)) }
    }

    private func frequency(of namespace: Namespace) -> SyncFrequency {
        state.withLock { $0.configurations[namespace]?.frequency } ?? .reactive
    }

    private enum PassResult {
        case done(isQuiet: Bool)
        case failed
        case offline
        /// Nothing reaches the remote until somebody signs in.
        case signedOut
        /// A collection is stopped, and nothing else was to be done: the remote from before may come
        /// back.
        case stopped
        /// The remote answers, and nothing gets on.
        case stuck

        var isFailure: Bool {
            switch self {
            case .failed, .signedOut, .stopped, .stuck: true
            case .done, .offline: false
            }
        }

        var isQuiet: Bool { if case .done(isQuiet: true) = self { true } else { false } }
    }

    private func runPassIfOnline(
        _ due: Set<Namespace>, _ patience: inout PassRetryPolicy
    ) async throws -> PassResult {
        do {
            let report = try await syncNow(only: due)
            if report.reachedRemote {
                let isStopped = report.hasStopped && report.isQuiet
                if isStopped { return .stopped }
                let mayGoOn = patience.mayGoOn(after: report)
                return mayGoOn || report.isQuiet ? .done(isQuiet: report.isQuiet) : .stuck
            }
            return report.errors.contains(.remoteUnavailable) ? .failed : .signedOut
        } catch let error as SyncError where error.code == .offline {
            return .offline
        }
    }

    /// Waits for a wake, for another process to write or ask for something, or until a collection is
    /// due.
    ///
    /// - Parameter written: the signature of before the pass, which may not have seen what came while
    ///   it ran.
    private func waitForWork(
        after seen: Int, _ written: [Int64], atMost limit: Duration?
    ) async throws {
        let stopwatch = Stopwatch(clock)
        while wakes.count == seen {
            var wait = SyncLimits.otherProcessesEvery
            if let limit {
                let rest = limit - stopwatch.elapsed
                guard rest > .zero else { return }
                wait = min(wait, rest)
            }
            try await wakes.wait(after: seen, atMost: wait, clock: clock)
            if try workSignature() != written { return }
        }
    }

    private func workSignature() throws -> [Int64] {
        try store.read { transaction in
            let connection = transaction.connection
            let newest = try connection.int64("SELECT max(version) FROM sync_sets") ?? 0
            return try SyncRecordTable(connection: connection).workSignature() + [newest]
        }
    }

    /// Whether a set of subscriptions is to be answered.
    func isSetWaiting() throws -> Bool {
        try store.read { transaction in
            try SubscriptionTable(connection: transaction.connection, cache: sets).isSetWaiting()
        }
    }

    /// Follows the remote's history of each collection and wakes the loop on news.
    ///
    /// News that no pass can read wake it once: what comes then is for the backoff to say.
    private func watchRemotes(_ lastPass: Locked<LastPass>) async throws {
        var told: [Namespace: ResumeToken] = [:]
        /// Collections whose changes could not be noted since the last pass.
        var unnoted: Set<Namespace> = []
        var last = passes.count
        var vain = SpuriousWakeups()
        while true {
            try Task.checkCancellation()
            let seen = passes.count
            if seen != last { unnoted = [] }
            last = seen
            if !lastPass.withLock({ $0.isFailing }) { told = [:] }
            let places: [(Namespace, ResumeToken)]
            do {
                places = try isOnline ? watchedTokens().filter { told[$0.0] != $0.1 } : []
            } catch let error as StoreError where error.mayPass {
                try await waitAfterFailedWatch()
                continue
            }
            guard !places.isEmpty else {
                await passes.wait(after: seen)
                continue
            }
            let found = try await watch(
                places, late: unnoted, vain.delays(backoff), untilPassAfter: seen)
            guard let (news, token) = found else { continue }
            if case .scheduled = frequency(of: news) {
                if try await !noteChanges(in: news) { unnoted.insert(news) }
            } else {
                told[news] = token
                let isNew = vain.isNew(token, of: news)
                wake()
                await passes.wait(after: seen)
                let isSpurious = lastPass.withLock { $0.isQuiet || $0.isFailing }
                vain.note(news, isSpurious: isSpurious, isNew: isNew)
            }
        }
    }

    /// Where the last pass left the history of each collection that is watched.
    private func watchedTokens() throws -> [(Namespace, ResumeToken)] {
        let places = try store.read { transaction in
            try SyncStateTable(connection: transaction.connection).collections().compactMap {
                collection in
                // The place of a stopped collection is one in the history of another remote.
                collection.stop == nil
                    ? collection.token.map { (collection.namespace, $0) } : nil
            }
        }
        return places.filter { SyncSchedule.isWatched(frequency(of: $0.0)) }
    }

    /// Waits for a change in any collection, or for the next pass; tells after which place there is a
    /// change.
    ///
    /// - Parameters:
    ///   - late: collections that are watched after a while only.
    ///   - delays: how long others wait before they are watched.
    private func watch(
        _ places: [(Namespace, ResumeToken)], late: Set<Namespace>,
        _ delays: [Namespace: Duration], untilPassAfter seen: Int
    ) async throws -> (Namespace, ResumeToken)? {
        try await withThrowingTaskGroup(of: (Namespace, ResumeToken)?.self) { group in
            for (namespace, token) in places {
                group.addTask {
                    if late.contains(namespace) { try await self.waitAfterFailedWatch() }
                    if let delay = delays[namespace] { try await self.clock.sleep(for: delay) }
                    return try await self.watch(namespace, after: token) ? (namespace, token) : nil
                }
            }
            group.addTask {
                await self.passes.wait(after: seen)
                return nil
            }
            defer { group.cancelAll() }
            return try await group.next() ?? nil
        }
    }

    /// Takes what the history tells into the inbox, without looking at the documents yet.
    ///
    /// - Returns: whether the history could be read, and its news stored.
    private func noteChanges(in namespace: Namespace) async throws -> Bool {
        do {
            return try await syncNow(only: [namespace], direction: .inboxOnly).reachedRemote
        } catch let error as SyncError where error.code == .offline {
            // It is noted when the engine is online again.
            return true
        } catch let error as StoreError where error.mayPass {
            return false
        }
    }
}

extension SyncEngine {
    /// Waits for a change in one collection; one that cannot be watched does not disturb others.
    private func watch(_ namespace: Namespace, after token: ResumeToken) async throws -> Bool {
        do {
            let wait = SyncLimits.watchWait
            let collection = remote.collection(namespace)
            var (place, limit) = (token, 1)
            var budget = PageBudget(changesPerPage: 1)
            let stopwatch = Stopwatch(clock)
            while true {
                let (after, count) = (place, limit)
                let batch = try await requestWithTimeout(collection, waitingUpTo: wait) { remote in
                    try await remote.changes(after: after, limit: count, waitingUpTo: wait)
                }
                guard batch.changes.isEmpty else { return true }
                // The history may be one of all collections: what is passed over there is not ours.
                guard batch.hasMore, batch.token != place else {
                    // A remote may answer at once where it was asked to wait.
                    let rest = SyncLimits.watchAtLeast - stopwatch.elapsed
                    if rest > .zero { try await clock.sleep(for: rest) }
                    return false
                }
                guard budget.mayGoOn(after: batch) else {
                    try await waitAfterFailedWatch()
                    return false
                }
                (place, limit) = (batch.token, limits.changesPerRead)
            }
        } catch let error as RemoteError {
            if error.endsHistory { return true }
            try await waitAfterFailedWatch()
            return false
        }
    }

    private func waitAfterFailedWatch() async throws {
        try await clock.sleep(for: backoff.delay(afterFailures: 5, jitter: 1))
    }
}

extension StoreError {
    /// Whether the store may be as before after a while, such as when it is busy or the disk is full.
    fileprivate var mayPass: Bool { [.busy, .diskFull, .ioError].contains(code) }
}

extension SyncLimits {
    /// How often a quiet engine looks for what other processes wrote.
    static let otherProcessesEvery: Duration = .seconds(1)
    /// How long one wait for a remote change lasts at least, where there is none.
    static let watchAtLeast: Duration = .milliseconds(200)
    /// How long one wait for a remote change lasts at most.
    static let watchWait: Duration = .seconds(10)
}
