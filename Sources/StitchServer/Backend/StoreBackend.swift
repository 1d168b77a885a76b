internal import BSONStore
internal import Synchronization

/// The backend that runs commands on a document store.
final class StoreBackend: CommandBackend {
    /// The documents.
    let store: DocumentStore
    /// The state that all connections share.
    let server: ServerContext
    /// The cursors that clients have not read to the end.
    let cursors: CursorTable
    /// The logical sessions of clients.
    let sessions: SessionTable
    /// The transactions of sessions.
    let transactions: TransactionTable
    /// The snapshots that are read outside of transactions.
    let snapshots = SnapshotTable()
    /// Made-up answers for unknown users.
    let decoyCredentials: DecoyCredentials
    /// The callbacks of commands that wait for a commit.
    let commits: CommitNotifier
    /// The last deletion of expired documents.
    private let lastExpiry = Locked(ContinuousClock.now)
    /// The last cleanup of the session log; due at the start.
    private let lastForgetting = Locked(ContinuousClock.now - .seconds(60))
    /// The last release of free memory to the system.
    private let lastTrim = Locked(ContinuousClock.now)
    /// The number of commands that are writing.
    private let writers = Atomic<Int>(0)

    /// Creates a backend for an open store, and closes the store with it.
    ///
    /// - Throws: an error when the store's feed cannot be read.
    init(store: DocumentStore, server: ServerContext) throws {
        self.store = store
        self.server = server
        cursors = CursorTable(timeoutSeconds: server.settings.cursorTimeoutSeconds)
        sessions = SessionTable(timeoutMinutes: server.settings.sessionTimeoutMinutes)
        transactions = TransactionTable(bounds: server.settings.transactions)
        commits = CommitNotifier(store)
        try SessionLog.prepare(store)
        decoyCredentials = DecoyCredentials(secret: try DecoyCredentials.secret(of: store))
        if let time = try store.read({ try FeedTimeLookup($0).last() }) {
            server.clock.follow(time)
        }
    }

    func run(_ rule: CommandDefinition, _ call: CommandCall) throws -> CommandOutcome {
        guard case .store(let answer) = rule.answering else {
            throw CommandFailure(59, "no such command: '\(call.givenName)'")
        }
        // A client that has not signed in uses no memory that outlives its connection.
        if let session = call.session, server.knows(call.connection) { sessions.touch(session) }
        let start = ContinuousClock.now
        let outcome = try self.answer(call, rule) { [server] call, store in
            if DeniedWrites.isNamed(by: call) { return try server.denials.answer(call, store) }
            if call.flag("apiStrict") { try store.checkStrictly(rule, call) }
            return try answer(call, store)
        }
        try profile(call, since: start)
        return outcome
    }

    private func checkStrictly(_ rule: CommandDefinition, _ call: CommandCall) throws {
        let query = rule.name == "explain" ? call.target.documentValue : call.body
        guard let query, let command = query.keys.first, let name = query[command]?.stringValue
        else { return }
        try StableAPI.checkIndexes(of: query) {
            try read(call) { try $0.indexes(call.namespace(name)) }
        }
    }

    func connectionClosed(_ connection: ClientConnection) {}

    func tidy() throws {
        cursors.endIdle()
        end(sessions.endIdle())
        transactions.tidy(whileOthersWait: !transactions.queue.isEmpty)
        snapshots.endIdle()
        // The limit leaves room for code and mapped files, which also count as memory.
        if isDue(lastTrim, every: 5) { MemoryArenas.trim(above: 192 * 1024 * 1024) }
        if isDue(lastForgetting, every: 60) {
            // No client retries a write that is older than a session may be.
            let age = Int64(server.settings.sessionTimeoutMinutes) * 60_000 * 2
            try SessionLog.forget(
                before: BSONDatetime(milliseconds: BSONDatetime.now.milliseconds - age), in: store)
        }
        let sleep = GetParameterCommand.parameters(server)["ttlMonitorSleepSecs"]?.wholeNumber
        if isDue(lastExpiry, every: max(1, sleep ?? 60)) { try store.expire(now: .now) }
    }

    private func isDue(_ last: Locked<ContinuousClock.Instant>, every seconds: Int) -> Bool {
        last.withLock { last in
            guard last + .seconds(seconds) <= .now else { return false }
            last = .now
            return true
        }
    }

    func close() {
        transactions.giveUpAll()
        snapshots.endIdle(.zero)
        cursors.killAll()
        store.close()
    }
}

extension StoreBackend {
    /// Runs a body on one state of the store.
    func read<R>(_ call: CommandCall, _ body: (ReadTransaction) throws -> R) throws -> R {
        try call.checkTime()
        let ruleGuard = try ruleGuard(call)
        let guarded: (ReadTransaction) throws -> R = { transaction in
            try call.believing {
                try transaction.through(ruleGuard, transaction, body)
            }
        }
        if let transaction = try transaction(of: call) { return try transaction.read(guarded) }
        if let snapshot = call.snapshot {
            let owner = TransactionBounds.owner(call.connection)
            return try snapshots.read(snapshot, of: owner, store, guarded)
        }
        // An in-memory store has one connection, which readers need, too.
        if store.location == .inMemory { try transactions.makeWay() }
        return try store.read(guarded)
    }

    /// Runs a body that changes the store, in one transaction.
    ///
    /// Writes that arrive during another commit are committed together.
    func write<R: Sendable>(
        _ call: CommandCall, _ body: @escaping @Sendable (WriteTransaction) throws -> R
    ) throws -> R {
        try call.checkTime()
        let ruleGuard = try ruleGuard(call)
        let bypasses = ruleGuard == nil && call.flag("bypassDocumentValidation")
        if let transaction = try transaction(of: call) {
            try transactions.makeWay(for: transaction)
            return try transaction.write { transaction in
                transaction.bypassesValidation = bypasses
                return try call.believing {
                    try transaction.through(ruleGuard, transaction, body)
                }
            }
        }
        let place = transactions.queue.enter()
        defer { transactions.queue.leave(place) }
        try transactions.makeWay()
        let stamped: @Sendable (WriteTransaction) throws -> R = { [self] transaction in
            // Taken inside the transaction, so that times grow in the order of commits.
            transaction.comment = WriteStamp(time: server.clock.advance()).comment
            transaction.bypassesValidation = bypasses
            return try call.believing {
                try transaction.through(ruleGuard, transaction, body)
            }
        }
        let others = writers.add(1, ordering: .relaxed).oldValue
        defer { writers.subtract(1, ordering: .relaxed) }
        // A single writer does not need another thread to share the commit.
        guard others > 0 else { return try store.write(stamped) }
        return try store.writeInGroup(stamped)
    }
}
