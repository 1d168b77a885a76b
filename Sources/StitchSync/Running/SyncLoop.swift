internal import BSONStore

/// The loop that runs passes when they are due and watches the remotes' histories.
struct SyncLoop: Sendable {
    let store: DocumentStore
    let remote: any Remote
    let requests: RemoteRequests
    let limits: SyncLimits
    let backoff: Backoff
    let clock: any Clock<Duration>
    /// The subscription sets as they were last read.
    let sets: SubscriptionCache
    /// Signals that there is work.
    let wakes: Signal
    /// Signals that a pass ended or a frequency changed.
    let passes: Signal
    /// The report of a store that cannot be written.
    let faults: StoreFaults
    /// Returns whether passes may connect to the remote by themselves.
    let isOnline: @Sendable () -> Bool
    /// Receives the system's reports of whether the network is metered.
    let noteMetered: @Sendable (Bool) -> Void
    /// Throws once the engine is closed.
    let checkIsOpen: @Sendable () throws -> Void
    /// Returns how often a collection is synced.
    let frequency: @Sendable (Namespace) -> SyncFrequency
    /// What the watch knows, for the passes.
    let history: HistoryWatch
    /// What waits leave out.
    let echoes: OwnEchoes
    /// Runs a pass over some collections.
    let pass: @Sendable (Set<Namespace>, SyncPass.Steps) async throws -> SyncPassReport

    /// Runs passes and watches until the task is cancelled.
    func run() async throws {
        try await withThrowingTaskGroup(of: Void.self) { group in
            let last = Locked(LastPass())
            group.addTask { try await runPasses(last) }
            group.addTask { try await watchRemotes(last) }
            group.addTask {
                await NetworkWatch(remote: remote, wakes: wakes, noteMetered: noteMetered).run()
            }
            defer { group.cancelAll() }
            while try await group.next() != nil {}
        }
    }

    /// Runs passes until the task is cancelled.
    ///
    /// - Parameter lastPass: the result of each pass, for the watches of remotes.
    private func runPasses(_ lastPass: Locked<LastPass>) async throws {
        var failures = 0
        var random = SystemRandomNumberGenerator()
        var agenda = SyncAgenda(clock: clock)
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
            } catch let error as StoreError where Self.isTemporary(error) {
                // A store that is temporarily busy or full is a failure like the remote's.
                faults.note(error, commits: store.commitCount)
                lastPass.withLock { $0 = LastPass(isFailing: true) }
                passes.notify()
            }
            failures += 1
            let jitter = Double.random(in: 0..<1, using: &random)
            try await wakes.wait(
                after: seen,
                atMost: backoff.delay(afterFailures: failures, jitter: jitter), clock: clock)
            // A wake restarts the backoff.
            if wakes.count != seen { failures = 0 }
        }
    }

    /// Runs a pass if one is due and waits for more work; returns `false` without a wait when the
    /// pass made no progress.
    private func runPass(
        _ agenda: inout SyncAgenda, _ patience: inout PassRetryPolicy,
        _ lastPass: Locked<LastPass>,
        after seen: Int
    ) async throws -> Bool {
        let written = try workSignature()
        let (due, rest) = agenda.due(try frequencies())
        guard try !due.isEmpty || SubscriptionTable.isSetWaiting(in: store, sets) else {
            try await waitForWork(after: seen, written, atMost: rest)
            return true
        }
        let result = try await runPassIfOnline(due, &patience)
        if case .inUse(let error) = result {
            faults.noteInUse(error)
        } else {
            faults.notePass(commits: store.commitCount)
        }
        lastPass.withLock { $0 = LastPass(isFailing: result.isFailure, isQuiet: result.isQuiet) }
        passes.notify()
        switch result {
        case .failed, .stopped, .stuck: return false
        case .offline, .signedOut: await wakes.wait(after: seen)
        case .inUse:
            try await wakes.wait(
                after: seen, atMost: SyncLimits.otherProcessesEvery, clock: clock)
        case .done(_, let isSettled):
            guard isSettled else { break }
            agenda.recordIdle(due)
            try await waitForWork(after: seen, written, atMost: agenda.due(frequencies()).rest)
        }
        return true
    }

    /// Returns the frequency of each collection.
    private func frequencies() throws -> [(Namespace, SyncFrequency)] {
        let namespaces = try store.read { transaction in
            try SyncCollectionTable(connection: transaction.connection).all().map(\.namespace)
        }
        return namespaces.map { ($0, frequency($0)) }
    }

    private enum PassResult {
        /// Everything was reached.
        ///
        /// - Parameter isSettled: whether another pass at once would find nothing to do.
        case done(isQuiet: Bool, isSettled: Bool)
        case failed
        case offline
        /// The remote refuses requests until the user signs in.
        case signedOut
        /// A collection is stopped, and nothing else was to be done. The original remote may
        /// return.
        case stopped
        /// The remote responds, but passes make no progress.
        case stuck
        /// Another engine syncs the file.
        case inUse(SyncError)

        var isFailure: Bool {
            switch self {
            case .failed, .signedOut, .stopped, .stuck, .inUse: true
            case .done, .offline: false
            }
        }

        var isQuiet: Bool { if case .done(isQuiet: true, _) = self { true } else { false } }
    }

    private func runPassIfOnline(
        _ due: Set<Namespace>, _ patience: inout PassRetryPolicy
    ) async throws -> PassResult {
        do {
            let report = try await pass(due, .all)
            if report.reachedRemote {
                let isStopped = report.hasStopped && report.isQuiet
                if isStopped { return .stopped }
                if report.isSettled || report.isQuiet {
                    // A pause follows.
                    patience = PassRetryPolicy()
                    return .done(isQuiet: report.isQuiet, isSettled: true)
                }
                return patience.mayGoOn(after: report)
                    ? .done(isQuiet: false, isSettled: false) : .stuck
            }
            let fails: [SyncError.Code] = [.remoteUnavailable, .notAuthorized]
            if fails.contains(where: report.errors.contains) { return .failed }
            return report.errors.contains(.authRequired) ? .signedOut : .offline
        } catch let error as SyncError where error.code == .offline {
            return .offline
        } catch let error as SyncError where error.code == .storeInUse {
            return .inUse(error)
        }
    }

    /// Waits for a wake, for work from another process, or until a collection is due.
    ///
    /// The store reports the commits of other processes, so the wait needs no polling.
    ///
    /// - Parameter written: the signature before the pass, which may have missed later work.
    private func waitForWork(
        after seen: Int, _ written: SyncRecordTable.WorkSignature, atMost limit: Duration?
    ) async throws {
        let stopwatch = Stopwatch(clock)
        while wakes.count == seen {
            let commits = store.commitCount
            let rest = limit.map { $0 - stopwatch.elapsed }
            if let rest, rest <= .zero { return }
            if try workSignature() != written {
                // Not at once, since the pass itself may have changed the signature.
                let pause = SyncLimits.otherProcessesEvery - stopwatch.elapsed
                guard pause > .zero else { return }
                let wait = rest.map { min($0, pause) } ?? pause
                return try await wakes.wait(after: seen, atMost: wait, clock: clock)
            }
            try await waitForWake(after: seen, orCommitAfter: commits, atMost: rest)
        }
    }

    /// Waits for a wake or a commit, and not longer than some time.
    private func waitForWake(
        after seen: Int, orCommitAfter commits: Int, atMost limit: Duration?
    ) async throws {
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { await wakes.wait(after: seen) }
            group.addTask { try await store.waitForCommit(after: commits) }
            if let limit { group.addTask { try await clock.sleep(for: limit) } }
            defer { group.cancelAll() }
            try await group.next()
        }
        try Task.checkCancellation()
    }

    private func workSignature() throws -> SyncRecordTable.WorkSignature {
        try store.read { try SyncRecordTable(connection: $0.connection).workSignature() }
    }

    /// Watches the remote's history of each collection and wakes the loop on changes.
    ///
    /// Each collection has a wait of its own, which goes on while others have news. Changes that no pass
    /// can read wake the loop once; then the backoff applies.
    private func watchRemotes(_ lastPass: Locked<LastPass>) async throws {
        try await withThrowingTaskGroup(of: WatchEvent.self) { group in
            var waits: [Namespace: OpenWait] = [:]
            defer { group.cancelAll() }
            var memory = WatchMemory(passes: passes.count, Stopwatch(clock))
            var watchesPasses = false
            while true {
                try Task.checkCancellation()
                if !watchesPasses {
                    let last = passes.count
                    group.addTask {
                        await passes.wait(after: last)
                        return .pass
                    }
                    watchesPasses = true
                }
                memory.notePasses(passes.count, isFailing: lastPass.withLock { $0.isFailing })
                do {
                    try adjust(&waits, memory, &group)
                } catch let error as StoreError where Self.isTemporary(error) {
                    try await waitAfterFailedWatch()
                    continue
                }
                switch try await group.next() {
                case nil: return
                case .pass: watchesPasses = false
                case .ended(let namespace, let end):
                    guard let wait = waits.removeValue(forKey: namespace) else { continue }
                    // A pass may have taken the changes, or another wait have found them.
                    guard end == .historyEnded || history.hasNews(of: namespace, after: wait.token),
                        memory.reported[namespace] != wait.token
                    else { continue }
                    try await carryOn(namespace, wait.token, waits, &memory, lastPass)
                }
            }
        }
    }

    /// What the watch of the remotes waits for.
    private enum WatchEvent: Sendable {
        /// A pass ended.
        case pass
        /// The wait for changes in a collection ended.
        case ended(Namespace, WatchEnd)
    }

    /// How a wait for changes ended.
    private enum WatchEnd: Sendable {
        /// At its time limit, or because other changes are to be waited for; what it found all the same
        /// is in the history watch.
        case over
        /// The remote no longer keeps the position.
        case historyEnded
    }

    /// A wait for changes after a position that is under way.
    private struct OpenWait: Sendable {
        let token: ResumeToken
        /// The era in which it leaves operations out.
        let era: Int
        /// Ends it.
        let end: Signal
    }

    /// What the watch of the remotes keeps between two events.
    private struct WatchMemory {
        /// The changes that woke the loop last.
        var reported: [Namespace: ResumeToken] = [:]
        /// The collections whose changes could not be noted since the last pass.
        var unnoted: Set<Namespace> = []
        var vain = SpuriousWakeups()
        let stopwatch: Stopwatch
        private var passes: Int

        init(passes: Int, _ stopwatch: Stopwatch) {
            (self.passes, self.stopwatch) = (passes, stopwatch)
        }

        mutating func notePasses(_ count: Int, isFailing: Bool) {
            if count != passes { unnoted = [] }
            passes = count
            if !isFailing { reported = [:] }
        }
    }

    /// Ends waits at positions that are not to be watched any more, and begins those that are missing.
    ///
    /// An ended wait is replaced once it has returned what it found.
    private func adjust(
        _ waits: inout [Namespace: OpenWait], _ memory: WatchMemory,
        _ group: inout ThrowingTaskGroup<WatchEvent, any Error>
    ) throws {
        let era = echoes.era
        let tokens = try watchedTokens().filter { memory.reported[$0.0] != $0.1 }
        let wanted = Dictionary(tokens) { first, _ in first }
        for (namespace, wait) in waits
        where wait.era != era || wanted[namespace] != wait.token {
            wait.end.notify()
        }
        let delays = memory.vain.delays(backoff)
        for (namespace, token) in tokens where waits[namespace] == nil {
            let isLate = memory.unnoted.contains(namespace)
            let delay = delays[namespace]
            let end = Signal()
            waits[namespace] = OpenWait(token: token, era: era, end: end)
            group.addTask {
                let result = try await untilEnded(end) {
                    if isLate { try await waitAfterFailedWatch() }
                    if let delay { try await clock.sleep(for: delay) }
                    return try await waitForChanges(in: namespace, after: token)
                }
                return .ended(namespace, result)
            }
        }
    }

    /// Runs a wait until it returns or is ended, and returns what it found in either case.
    private func untilEnded(
        _ end: Signal, _ wait: @escaping @Sendable () async throws -> WatchEnd
    ) async throws -> WatchEnd {
        try await withThrowingTaskGroup(of: WatchEnd?.self) { group in
            group.addTask { try await wait() }
            group.addTask {
                await end.wait(after: 0)
                return nil
            }
            defer { group.cancelAll() }
            if let found = try await group.next() ?? nil { return found }
            group.cancelAll()
            do {
                return try await group.next().flatMap(\.self) ?? .over
            } catch is CancellationError {
                try Task.checkCancellation()
                return .over
            }
        }
    }

    /// Has a pass read the changes of a collection that a wait found.
    private func carryOn(
        _ namespace: Namespace, _ token: ResumeToken, _ waits: [Namespace: OpenWait],
        _ memory: inout WatchMemory,
        _ lastPass: Locked<LastPass>
    ) async throws {
        if case .scheduled = frequency(namespace) {
            if try await !noteChanges(in: namespace) { memory.unnoted.insert(namespace) }
            return
        }
        memory.reported[namespace] = token
        // The pass reads the news of the others, too.
        for (other, wait) in waits where history.hasNews(of: other, after: wait.token) {
            if case .scheduled = frequency(other) { continue }
            memory.reported[other] = wait.token
        }
        let isNew = memory.vain.isNew(token, of: namespace)
        let before = passes.count
        wakes.notify()
        await passes.wait(after: before)
        memory.vain.note(
            namespace, isSpurious: lastPass.withLock { $0.isQuiet || $0.isFailing }, isNew: isNew,
            at: memory.stopwatch.elapsed)
    }

    /// Returns the position of the last pass in the history of each collection to wait for: none of
    /// those whose last changes no pass has read yet.
    private func watchedTokens() throws -> [(Namespace, ResumeToken)] {
        guard isOnline() else { return [] }
        let tokens = try store.read { transaction in
            try SyncCollectionTable(connection: transaction.connection).all().compactMap {
                collection in
                // The position of a stopped collection belongs to another remote's history.
                collection.stop == nil
                    ? collection.token.map { (collection.namespace, $0) } : nil
            }
        }
        return tokens.filter {
            SyncSchedule.isWatched(frequency($0.0)) && !history.hasNews(of: $0.0, after: $0.1)
        }
    }

    /// Reads the history and stores stale marks, without fetching the documents.
    ///
    /// - Returns: whether the history could be read and the stale marks stored.
    private func noteChanges(in namespace: Namespace) async throws -> Bool {
        // Where the pass fails before it takes what the wait found, the next wait finds it again.
        defer { history.forget(namespace) }
        do {
            return try await pass([namespace], .markStaleOnly).reachedRemote
        } catch let error as SyncError where error.code == .offline {
            // The changes are noted when the engine is online again.
            return true
        } catch let error as StoreError where Self.isTemporary(error) {
            return false
        }
    }

    /// Returns whether an error is temporary, such as a busy store or a full disk.
    private static func isTemporary(_ error: StoreError) -> Bool {
        [.busy, .diskFull, .ioError].contains(error.code)
    }
}

extension SyncLoop {
    /// Waits for a change in one collection, which the history watch then knows; a temporary error of the
    /// store, or one of the remote, does not affect the watch of others.
    private func waitForChanges(
        in namespace: Namespace, after token: ResumeToken
    ) async throws -> WatchEnd {
        do {
            let wait = SyncLimits.watchWait
            let collection = remote.collection(namespace)
            var place = token
            let limit = limits.changesPerRead
            var budget = PageBudget(changesPerPage: limit)
            let stopwatch = Stopwatch(clock)
            while true {
                let after = place
                history.begin(namespace, after: token)
                defer { history.end(namespace, after: token, with: nil) }
                let own = try echoes.operations(of: namespace, after: after, in: store)
                let batch = try await requests.send(collection, waitingUpTo: wait) { remote in
                    try await remote.changes(
                        after: after, limit: limit, waitingUpTo: wait, leavingOut: own)
                }
                guard echoes.era == own.era else {
                    // An operation whose answer was lost may have been left out: the next wait begins at
                    // the same position, and the remote reports the operation to it.
                    history.forget(namespace)
                    return .over
                }
                try echoes.noteReading(of: namespace, to: batch.token, in: store)
                // A pass stores the position, so that the next start does not read what was left out.
                let hasMovedOn = stopwatch.elapsed >= wait && batch.token != token
                guard batch.changes.isEmpty && !hasMovedOn else {
                    history.end(namespace, after: token, with: batch)
                    return .over
                }
                // The history may cover all collections; changes of others are skipped.
                guard batch.hasMore, batch.token != place else {
                    // A remote may answer at once instead of waiting.
                    let rest = SyncLimits.watchAtLeast - stopwatch.elapsed
                    if rest > .zero { try await clock.sleep(for: rest) }
                    return .over
                }
                guard budget.mayGoOn(after: batch) else {
                    try await waitAfterFailedWatch()
                    return .over
                }
                place = batch.token
            }
        } catch let error as RemoteError {
            history.forget(namespace)
            if error.endsHistory { return .historyEnded }
        } catch let error as StoreError where Self.isTemporary(error) {
            history.forget(namespace)
        }
        try await waitAfterFailedWatch()
        return .over
    }

    private func waitAfterFailedWatch() async throws {
        try await clock.sleep(for: backoff.delay(afterFailures: 5, jitter: 1))
    }
}

extension SyncLimits {
    /// The shortest time between two passes for the work of other processes, and the longest wait
    /// for another engine that syncs the file, which may have died.
    static let otherProcessesEvery: Duration = .seconds(1)
    /// The shortest wait for a remote change, where there is none.
    static let watchAtLeast: Duration = .milliseconds(200)
    /// The longest wait for a remote change.
    static let watchWait: Duration = .seconds(10)
}
