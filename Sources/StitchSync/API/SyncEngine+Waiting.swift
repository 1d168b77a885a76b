internal import BSONStore

extension SyncEngine {
    /// Runs passes until everything that was written here is at the remote.
    ///
    /// Paused documents are not waited for, nor are those whose version field is not understood.
    /// A conflict is waited for, also while no conflict handler is configured to answer it.
    /// While the engine is offline it waits for ``setOnline(_:)``; where another engine syncs the
    /// file, for that one to send it.
    ///
    /// - Parameter timeout: how long at most; for ever unless told.
    /// - Throws: `SyncError` of code `.timedOut`, `.authRequired` where the remote wants somebody to
    ///   sign in, that of a collection that is stopped, and those of ``syncNow()`` but `.offline`;
    ///   `StoreError` of code `.closed`; `CancellationError`.
    public func waitForUpload(timeout: Duration? = nil) async throws {
        try await wait(for: [.unsent], in: nil, timeout)
    }

    /// Runs passes until everything that the remote holds is here, as it was when this was called.
    ///
    /// Sets of subscriptions that wait for their documents are waited for.
    ///
    /// - Parameter timeout: how long at most; for ever unless told.
    /// - Throws: as ``waitForUpload(timeout:)`` does; `SyncError` of code `.subscriptionFailed`
    ///   where the remote refused the latest set, `.storeInUse` where another engine syncs the file.
    public func waitForDownload(timeout: Duration? = nil) async throws {
        try await wait(for: [.toLook], in: nil, timeout)
    }

    /// Runs passes until both sides hold the same, paused documents apart.
    ///
    /// - Parameter timeout: how long at most; for ever unless told.
    /// - Throws: as ``waitForDownload(timeout:)`` does.
    public func waitForSynchronization(timeout: Duration? = nil) async throws {
        try await wait(for: [.unsent, .toLook], in: nil, timeout)
    }
}

extension SyncCollection {
    /// Runs a pass over this collection only.
    ///
    /// - Throws: as ``SyncEngine/syncNow()`` does.
    @discardableResult
    public func syncNow() async throws -> SyncPassReport {
        try await engine.syncNow(only: [namespace])
    }

    /// Does for the collection what ``SyncEngine/waitForUpload(timeout:)`` does for all.
    public func waitForUpload(timeout: Duration? = nil) async throws {
        try await engine.wait(for: [.unsent], in: namespace, timeout)
    }

    /// Does for the collection what ``SyncEngine/waitForDownload(timeout:)`` does for all.
    public func waitForDownload(timeout: Duration? = nil) async throws {
        try await engine.wait(for: [.toLook], in: namespace, timeout)
    }

    /// Does for the collection what ``SyncEngine/waitForSynchronization(timeout:)`` does for all.
    public func waitForSynchronization(timeout: Duration? = nil) async throws {
        try await engine.wait(for: [.unsent, .toLook], in: namespace, timeout)
    }
}

extension SyncEngine {
    /// Runs passes until no record of these kinds is left, with pauses as the backoff says.
    ///
    /// A pass that is under way when the time is up is told to stop, and not waited for.
    func wait(
        for selections: [SyncRecordTable.Selection], in namespace: Namespace?, _ limit: Duration?
    ) async throws {
        guard let limit else { return try await pass(until: selections, in: namespace) }
        do {
            try await withTimeout(limit, clock: clock) {
                try await self.pass(until: selections, in: namespace)
            }
        } catch is TimeoutError {
            throw SyncError(.timedOut, "not all was carried in \(limit)", namespace: namespace)
        }
    }

    private func pass(
        until selections: [SyncRecordTable.Selection], in namespace: Namespace?
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
                // The engine that syncs the file sends what is written here.
                if try isEmpty(selections, in: namespace) { return }
                try await waitForOtherEngine(after: commits)
                continue
            }
            guard let report = passed else {
                // Also where its answer does not count, it tells when the store is closed.
                if try isEmpty(selections, in: namespace), selections == [.unsent] { return }
                try await waitUntilWoken(after: seen)
                continue
            }
            if let stopped = try stopError(in: namespace) { throw stopped }
            if let refused = try refusal(report, in: namespace, selections) { throw refused }
            let needsSets = selections.contains(.toLook)
            if report.reachedRemote, try isEmpty(selections, in: namespace),
                try !needsSets || !isSetWaiting(in: namespace)
            {
                return
            }
            let mayGoOn = report.reachedRemote && patience.mayGoOn(after: report)
            fruitless = mayGoOn ? 0 : fruitless + 1
            guard fruitless > 0 else { continue }
            let jitter = Double.random(in: 0..<1, using: &random)
            try await wakes.wait(
                after: seen, atMost: backoff.delay(afterFailures: fruitless, jitter: jitter),
                clock: clock)
        }
    }

    /// The error of a collection that is stopped: only a person can end the wait for it.
    func stopError(in namespace: Namespace?) throws -> SyncError? {
        let collections = try store.read { transaction in
            try SyncStateTable(connection: transaction.connection).collections()
        }
        for collection in collections
        where namespace == nil || collection.namespace == namespace {
            if let stop = collection.stop { return stop.error(in: collection.namespace) }
        }
        return nil
    }

    /// The error of a sign-in or a query that the remote refused: only a person can end the wait for
    /// what needs it.
    private func refusal(
        _ report: SyncPassReport, in namespace: Namespace?,
        _ selections: [SyncRecordTable.Selection]
    ) throws -> SyncError? {
        if report.errors.contains(.authRequired) { return Self.authRequired(in: namespace) }
        guard selections.contains(.toLook) else { return nil }
        let latest = try subscriptions.latest
        guard namespace.map(latest.asks(of:)) ?? true,
            let state = try subscriptions.state(of: latest.version),
            case .failed(let text) = state.wait(for: .complete)
        else { return nil }
        return SyncError(.subscriptionFailed, text, namespace: namespace)
    }

    /// What ends a wait that needs somebody to sign in.
    static func authRequired(in namespace: Namespace? = nil) -> SyncError {
        SyncError(
            .authRequired,
            "the remote wants somebody to sign in: do so, call noteSignIn(), and wait again",
            namespace: namespace)
    }

    /// Runs a pass; `nil` when the engine is offline.
    func runPassIfOnline(only namespaces: Set<Namespace>? = nil) async throws -> SyncPassReport? {
        do {
            return try await syncNow(only: namespaces)
        } catch let error as SyncError where error.code == .offline {
            return nil
        }
    }

    /// Waits until there is something to do, such as when the engine is online again.
    func waitUntilWoken(after seen: Int) async throws {
        await wakes.wait(after: seen)
        try Task.checkCancellation()
    }

    /// Whether a set of subscriptions is to be answered that asks for documents of a collection, or any.
    private func isSetWaiting(in namespace: Namespace?) throws -> Bool {
        guard let namespace else { return try isSetWaiting() }
        return try store.read { transaction in
            try SubscriptionTable(connection: transaction.connection, cache: sets).history().waiting
                .contains { $0.asks(of: namespace) }
        }
    }

    /// The newest of all writes that the remote did not allow.
    var newestRejectedWrite: Int64 {
        get throws {
            try store.read { transaction in
                try SyncRecordTable(connection: transaction.connection).newestRejection()
            }
        }
    }

    func isEmpty(
        _ selections: [SyncRecordTable.Selection], in namespace: Namespace?
    ) throws -> Bool {
        try store.read { try $0.isEmpty(selections, in: namespace) }
    }
}

extension ReadTransaction {
    /// Whether no record of a store is one that passes can settle, in a collection or in all.
    func isEmpty(
        _ selections: [SyncRecordTable.Selection], in namespace: Namespace?
    ) throws -> Bool {
        let records = SyncRecordTable(connection: connection)
        let collections = try SyncStateTable(connection: connection).collections()
        for collection in collections
        where namespace == nil || collection.namespace == namespace {
            for selection in selections {
                if try records.isAwaited(selection, in: collection.rowID) { return false }
            }
        }
        return true
    }
}

extension SyncRecordTable {
    /// Whether there is a record of a kind that passes can settle: a change of a document whose
    /// version field is not understood waits for somebody else.
    fileprivate func isAwaited(_ selection: Selection, in collection: Int64) throws -> Bool {
        guard try count(selection, in: collection) > 0 else { return false }
        guard selection == .unsent else { return true }
        var last: Int64 = 0
        while true {
            let batch = try records(selection, in: collection, after: last, limit: 100)
            guard let row = batch.last?.rowID else { return false }
            if batch.contains(where: { !$0.waitsForForeignVersion }) { return true }
            last = row
        }
    }
}

extension SyncRecord {
    /// All that is left to do is to send a change, which the version field forbids.
    fileprivate var waitsForForeignVersion: Bool {
        guard case .foreign = version else { return false }
        return attempt == nil && hint == 0
    }
}
