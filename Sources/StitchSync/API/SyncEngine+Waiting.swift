internal import BSONStore

extension SyncEngine {
    /// Runs passes until the remote holds every local change.
    ///
    /// Ignores paused documents and documents with a foreign version field. Waits for conflicts,
    /// even while no conflict handler is configured. If nothing is to be sent, it returns without a
    /// network, too; else, while the engine is offline, the call waits for ``setOnline(_:)``. Where
    /// another engine syncs the file, the call waits for that engine.
    ///
    /// - Parameter timeout: the longest wait; `nil` sets no limit.
    /// - Throws: `SyncError` of code `.timedOut`, of code `.authRequired` where the user has to
    ///   sign in, of code `.notAuthorized` where the user needs a role, the error of a stopped collection, and the errors of ``syncNow()`` except
    ///   `.offline`; `StoreError` of code `.closed`; `CancellationError`.
    public func waitForUpload(timeout: Duration? = nil) async throws {
        try await wait(for: [.unsent], in: nil, timeout)
    }

    /// Runs passes until the store holds every remote change made before the call.
    ///
    /// Waits for subscription sets whose documents are not here yet, too.
    ///
    /// - Parameter timeout: the longest wait; `nil` sets no limit.
    /// - Throws: as ``waitForUpload(timeout:)`` does; `SyncError` of code `.subscriptionFailed`
    ///   where the remote refused the latest set, `.storeInUse` where another engine syncs the
    ///   file.
    public func waitForDownload(timeout: Duration? = nil) async throws {
        try await wait(for: [.toFetch], in: nil, timeout)
    }

    /// Runs passes until both sides hold the same documents, except paused ones.
    ///
    /// - Parameter timeout: the longest wait; `nil` sets no limit.
    /// - Throws: as ``waitForDownload(timeout:)`` does.
    public func waitForSynchronization(timeout: Duration? = nil) async throws {
        try await wait(for: [.unsent, .toFetch], in: nil, timeout)
    }
}

extension SyncEngine {
    /// Runs passes until no record of these kinds is left, and pauses between them by the backoff.
    ///
    /// When the time is up, the running pass is cancelled, and the call does not wait for its end.
    func wait(
        for selections: [RecordSelection], in namespace: Namespace?, _ limit: Duration?
    ) async throws {
        guard let limit else { return try await pass(until: selections, in: namespace) }
        do {
            try await withTimeout(limit, clock: clock) {
                try await self.pass(until: selections, in: namespace)
            }
        } catch is TimeoutError {
            throw SyncError(.timedOut, "sync did not finish within \(limit)", namespace: namespace)
        }
    }

    /// Runs passes and sends files until the remote holds every local change and every file of a
    /// document.
    ///
    /// A file that no document refers to is not waited for.
    ///
    /// - Throws: as ``waitForUpload(timeout:)`` does; the error of a store of files that fails.
    func waitForUploadWithFiles(timeout limit: Duration) async throws {
        do {
            try await withTimeout(limit, clock: clock) {
                try await self.pass(until: [.unsent], in: nil)
                try await self.sendFiles()
            }
        } catch is TimeoutError {
            throw SyncError(.timedOut, "changes or files were not sent within \(limit)")
        }
    }

    /// Sends files until none of a document is left.
    private func sendFiles() async throws {
        try files.openIfStored()
        guard files.isUsed else { return }
        var failures = 0
        var random = SystemRandomNumberGenerator()
        while true {
            try checkIsOpen()
            let seen = files.wakes.count
            var sent = 0
            if isOnline { sent = try await files.runRound().sent }
            // What waits for the app's decision about a rejected write is not sent.
            let isLeft = try files.cache().records(.toSend).contains {
                !files.isKept($0.attachment.id)
            }
            guard isLeft else { return }
            failures = sent > 0 ? 0 : failures + 1
            guard failures > 0 else { continue }
            let jitter = Double.random(in: 0..<1, using: &random)
            try await files.wakes.wait(
                after: seen, atMost: backoff.delay(afterFailures: failures, jitter: jitter),
                clock: clock)
        }
    }

    private func pass(
        until selections: [RecordSelection], in namespace: Namespace?
    ) async throws {
        var fruitless = 0
        var patience = PassRetryPolicy()
        var random = SystemRandomNumberGenerator()
        while true {
            let (seen, commits) = (wakes.count, store.commitCount)
            let passed: SyncPassReport?
            do {
                passed = try await runPassIfOnline(only: namespace.map { [$0] })
            } catch let error as SyncError
                where error.code == .storeInUse && selections == [.unsent]
            {
                // The engine that syncs the file uploads this engine's writes.
                if try isEmpty(selections, in: namespace) { return }
                try await waitForOtherEngine(after: commits)
                continue
            }
            guard let report = passed else {
                // Called even where the result does not matter: it throws once the store is closed.
                if try isEmpty(selections, in: namespace), selections == [.unsent] { return }
                try await waitUntilWoken(after: seen)
                continue
            }
            if let stopped = try stopError(in: namespace) { throw stopped }
            if let refused = try refusal(report, in: namespace, selections) { throw refused }
            let needsSets = selections.contains(.toFetch)
            // A collection that the user may not read does not hold up the wait for the others.
            let reached =
                needsSets ? report.reachedRemote : report.reachedReadable
            // Where nothing is to be sent, it does not matter whether the remote answers.
            if reached || !needsSets, try isEmpty(selections, in: namespace),
                try !needsSets || !isSetWaiting(in: namespace)
            {
                return
            }
            let mayGoOn = reached && patience.mayGoOn(after: report)
            fruitless = mayGoOn ? 0 : fruitless + 1
            guard fruitless > 0 else { continue }
            let jitter = Double.random(in: 0..<1, using: &random)
            try await wakes.wait(
                after: seen, atMost: backoff.delay(afterFailures: fruitless, jitter: jitter),
                clock: clock)
        }
    }

    /// Returns the error of a stopped collection: only a person can end the stop.
    func stopError(in namespace: Namespace?) throws -> SyncError? {
        let collections = try store.read { transaction in
            try SyncCollectionTable(connection: transaction.connection).all()
        }
        for collection in collections
        where namespace == nil || collection.namespace == namespace {
            if let stop = collection.stop { return stop.error(in: collection.namespace) }
        }
        return nil
    }

    /// Returns the error of a refused sign-in or query: only a person can end the wait for it.
    private func refusal(
        _ report: SyncPassReport, in namespace: Namespace?,
        _ selections: [RecordSelection]
    ) throws -> SyncError? {
        guard selections.contains(.toFetch) else {
            return try refusedUpload(report, in: namespace)
        }
        if let refused = Self.refusedUser(report, in: namespace) { return refused }
        let latest = try subscriptions.latest
        guard namespace.map(latest.asks(of:)) ?? true,
            let state = try subscriptions.state(of: latest.version),
            case .failed(let text) = state.wait(for: .complete)
        else { return nil }
        return SyncError(.subscriptionFailed, text, namespace: namespace)
    }

    /// Returns the error of a wait for uploads: only the collections with changes matter.
    private func refusedUpload(
        _ report: SyncPassReport, in namespace: Namespace?
    ) throws -> SyncError? {
        var concerned = report
        concerned.unreadable = try report.unreadable.filter { namespace in
            try !isEmpty([.unsent], in: namespace)
        }
        if concerned.unreadable.isEmpty { concerned.errors.removeAll { $0 == .notAuthorized } }
        return Self.refusedUser(concerned, in: namespace ?? concerned.unreadable.min())
    }

    /// Returns the error that ends a wait until the user signs in or is given a role; `nil` if the
    /// remote refused the user nothing.
    static func refusedUser(
        _ report: SyncPassReport, in namespace: Namespace? = nil
    ) -> SyncError? {
        if report.errors.contains(.authRequired) {
            return SyncError(
                .authRequired,
                "the remote requires a sign-in: sign in, call noteSignIn(), and wait again",
                namespace: namespace)
        }
        guard report.errors.contains(.notAuthorized) else { return nil }
        return SyncError(
            .notAuthorized,
            "the user has no privilege to read \(namespace.map { "\($0)" } ?? "a collection") "
                + "at the remote: give the user a role, and wait again", namespace: namespace)
    }

    /// Runs a pass; `nil` when the engine is offline.
    func runPassIfOnline(only namespaces: Set<Namespace>? = nil) async throws -> SyncPassReport? {
        do {
            return try await syncNow(only: namespaces)
        } catch let error as SyncError where error.code == .offline {
            return nil
        }
    }

    /// Waits for work, for example until the engine is online again.
    func waitUntilWoken(after seen: Int) async throws {
        await wakes.wait(after: seen)
        try Task.checkCancellation()
    }

    /// Whether a subscription set on a collection, or on any, waits for the remote's answer.
    private func isSetWaiting(in namespace: Namespace?) throws -> Bool {
        guard let namespace else { return try SubscriptionTable.isSetWaiting(in: store, sets) }
        return try store.read { transaction in
            try SubscriptionTable(connection: transaction.connection, cache: sets).history().waiting
                .contains { $0.asks(of: namespace) }
        }
    }

    /// The id of the newest rejected write.
    var newestRejectedWrite: Int64 {
        get throws {
            try store.read { transaction in
                try RejectedWriteTable(connection: transaction.connection).newestID()
            }
        }
    }

    func isEmpty(
        _ selections: [RecordSelection], in namespace: Namespace?
    ) throws -> Bool {
        try store.read { try AwaitedRecords(transaction: $0).isEmpty(selections, in: namespace) }
    }
}

extension SyncEngine {
    /// Waits until this engine or another engine on the file may have changed a record.
    func waitForChange(after seen: Int, commits: Int) async throws {
        let (changed, store) = (changed, store)
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { await changed.wait(after: seen) }
            group.addTask { try await store.waitForCommit(after: commits) }
            defer { group.cancelAll() }
            try await group.next()
        }
        try Task.checkCancellation()
    }

    /// Waits a limited time for a commit of the engine that syncs the file, since that engine may
    /// have died.
    func waitForOtherEngine(after commits: Int) async throws {
        let (changed, clock, store) = (changed, clock, store)
        let seen = changed.count
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask {
                try await changed.wait(
                    after: seen, atMost: SyncLimits.otherProcessesEvery, clock: clock)
            }
            group.addTask { try await store.waitForCommit(after: commits) }
            defer { group.cancelAll() }
            try await group.next()
        }
        try Task.checkCancellation()
    }
}
