internal import BSONStore
internal import StitchRules

/// The backend that runs commands on a document store.
final class StoreBackend: CommandBackend {
    /// The documents.
    let store: DocumentStore
    /// The state that all connections share.
    let server: ServerContext
    /// The cursors that clients have not read to the end.
    let cursors: CursorTable
    /// The temporary files for large results.
    let spools: ResultSpools
    /// The logical sessions of clients.
    let sessions: SessionTable
    /// The callbacks of commands that wait for a commit.
    let commits: CommitNotifier
    /// The users.
    let users: UserDirectory
    /// The rules that apply to the users.
    let rules: UserRules
    /// The sign-in of clients.
    let signIn: SignIn
    /// The reads and writes of commands.
    let runner: TransactionRunner
    /// The denied writes in the store; `nil` where they are elsewhere.
    private let denials: StoredDenials?
    /// The devices that were connected last; `nil` where they are in memory only.
    private let devices: StoredDevices?
    /// Whether the store outlives a command, so that a cursor may read on in it.
    let isLasting: Bool
    /// The last deletion of expired documents.
    private let lastExpiry = Locked(ContinuousClock.now)
    /// The last cleanup of the session log; due at the start.
    private let lastForgetting = Locked(ContinuousClock.now - .seconds(60))
    /// The last removal of files to which no document refers; due at the start.
    private let lastSweep = Locked(ContinuousClock.now - .seconds(3_600))
    /// The last time that the connected devices were noted.
    private let lastDevices = Locked(ContinuousClock.now)
    /// The last release of free memory to the system.
    private let lastTrim = Locked(ContinuousClock.now)

    /// Creates a backend for an open store, and closes the store with it.
    ///
    /// - Parameters:
    ///   - records: the place of the users; `nil` for the store.
    ///   - secret: the secret of made-up credentials; `nil` for that of the store.
    /// - Throws: an error when the store's feed cannot be read.
    init(
        store: DocumentStore, server: ServerContext, records: (any UserRecords)? = nil,
        secret: [UInt8]? = nil
    ) throws {
        self.store = store
        self.server = server
        cursors = CursorTable(
            timeoutSeconds: server.settings.cursorTimeoutSeconds,
            bytesMax: server.settings.cursorBytesMax)
        spools = ResultSpools(
            folder: ResultSpools.folder(for: store),
            budget: SpoolBudget(bytesMax: server.settings.spoolBytesMax), cursors: cursors)
        sessions = SessionTable(timeoutMinutes: server.settings.sessionTimeoutMinutes)
        // What decides about rights concerns all who wait.
        commits = CommitNotifier(store) { [settings = server.settings] namespace in
            namespace.database == User.namespace.database
                || namespace == settings.rules?.edition.rules.customData?.namespace
        }
        isLasting = true
        try SessionLog.prepare(store)
        denials = try records == nil ? StoredDenials(store) : nil
        devices = try records == nil ? StoredDevices(store) : nil
        if let devices { server.seenDevices.load(try devices.entries.all()) }
        if records == nil { try StoredConflicts(store: store).entries.prepare() }
        if let denials {
            server.deniedWrites.load(try denials.entries.all())
            server.deniedWrites.storing.withLock { $0 = { denials.add($0) } }
        }
        users = UserDirectory(
            records: records ?? StoredUserRecords(store: store, commits: commits), server: server)
        rules = UserRules(users: users)
        signIn = SignIn(
            users: users,
            decoys: try DecoyCredentials(secret: try secret ?? DecoyCredentials.secret(of: store)))
        runner = TransactionRunner(store, server, rules)
        if let time = try store.read({ try FeedTimeLookup($0).last() }) {
            server.clock.follow(time)
        }
    }

    /// Creates a backend that runs one command on another store, and shares all else.
    ///
    /// - Parameters:
    ///   - transaction: the transaction of the command; `nil` for one of its own.
    ///   - candidates: the place of the documents; `nil` for the store itself.
    ///   - ruleGuard: the rules for the command; `nil` for none.
    init(
        _ store: DocumentStore, in transaction: OpenTransaction<WriteTransaction>?,
        readingFrom candidates: (any CandidateSource)?,
        sharing services: StoreBackend, under ruleGuard: RuleAccessPolicy?
    ) {
        self.store = store
        server = services.server
        cursors = services.cursors
        spools = services.spools
        sessions = services.sessions
        commits = services.commits
        users = services.users
        rules = services.rules.deciding(ruleGuard)
        signIn = services.signIn
        runner = TransactionRunner(
            store, server, rules, in: transaction, readingFrom: candidates)
        isLasting = false
        denials = nil
        devices = nil
    }

    func signedIn(_ connection: ClientConnection) throws -> SignedInUser? {
        try users.signedIn(connection)
    }

    var isGateway: Bool { false }

    func hasNoUsers() throws -> Bool { try users.hasNoUsers() }

    func isUnderRules(_ call: CommandCall) throws -> Bool { try rules.ruleGuard(call) != nil }

    var isReady: Bool { !server.state.withLock { $0.isStopping } }

    var counts: BackendCounts {
        BackendCounts(cursors: cursors.counts, sessions: sessions.all.count)
    }

    func figures() throws -> BackendFigures {
        let conflicts = try StoredConflicts(store: store).count()
        let bytes = try store.read { transaction in
            let connection = transaction.connection
            return (try connection.int64("PRAGMA page_count") ?? 0)
                * (try connection.int64("PRAGMA page_size") ?? 0)
        }
        return BackendFigures(conflicts: conflicts, storageBytes: bytes)
    }

    func parse(_ definition: CommandDefinition, _ call: CommandCall) -> ParsedCommand {
        definition.parse(call, self)
    }

    func run(
        _ command: ParsedCommand, _ definition: CommandDefinition, _ call: CommandCall
    ) throws -> CommandOutcome {
        // A client that has not signed in uses no memory that outlives its connection.
        if let session = call.session, server.knows(call.connection) {
            try sessions.touch(session, of: call.connection.sessionOwner)
        }
        let start = ContinuousClock.now
        let outcome = try runner.run(call) { try command.answer(self) }
        try ProfileLog.note(call, since: start, in: store, runner.turn)
        return outcome
    }

    func connectionClosed(_ connection: ClientConnection) {}

    func tidy() throws {
        cursors.endIdle()
        for session in sessions.endIdle() { try end(session) }
        let transactions = runner.transactions
        transactions.tidy(whileOthersWait: transactions.turns.hasWaiting)
        runner.snapshots.endIdle()
        let turn = runner.turn
        try denials?.flush(in: turn)
        if let devices, isDue(lastDevices, every: 60) {
            server.noteDevices()
            try devices.flush(server.seenDevices, in: turn)
        }
        // The limit leaves room for code and mapped files, which also count as memory.
        if isDue(lastTrim, every: 5) { MemoryArenas.trim(above: 192 * 1024 * 1024) }
        if isDue(lastForgetting, every: 60) {
            // No client retries a write that is older than a session may be.
            let age = Int64(server.settings.sessionTimeoutMinutes) * 60_000 * 2
            try SessionLog.forget(
                before: BSONDatetime(milliseconds: BSONDatetime.now.milliseconds - age), in: store,
                turn)
        }
        if isDue(lastExpiry, every: max(1, server.expirySleepSeconds)) {
            try store.expire(now: .now, in: turn)
        }
        if isDue(lastSweep, every: 3_600) {
            _ = try StoredAttachments(store, in: turn).sweep(now: .now)
        }
    }

    private func isDue(_ last: Locked<ContinuousClock.Instant>, every seconds: Int) -> Bool {
        last.withLock { last in
            guard last + .seconds(seconds) <= .now else { return false }
            last = .now
            return true
        }
    }

    func close() {
        endTransactions()
        cursors.killAll()
        do {
            try denials?.flush()
            try devices?.flush(server.seenDevices)
        } catch {
            server.settings.log.write(
                .warning, "cannot store the last denied writes and devices: \(error)")
        }
        store.close()
    }

    /// Ends the transactions and snapshots that would make other commands wait.
    func endTransactions() {
        runner.transactions.giveUpAll()
        runner.snapshots.endAll()
    }

    /// Ends a session with its cursors and its transaction.
    ///
    /// - Throws: the end of the calling command's time.
    func end(_ session: BSONDocument) throws(StoreError) {
        let key = SessionTable.key(session)
        sessions.end(session)
        try cursors.kill(session: key)
        runner.transactions.forget(key)
    }

    /// Runs a body on the state of the store that a command sees.
    func read<R>(_ call: CommandCall, _ body: (ReadTransaction) throws -> R) throws -> R {
        try runner.read(call, body)
    }

    /// Runs a body that changes the store, in one transaction.
    func write<R: Sendable>(
        _ call: CommandCall, _ body: @escaping @Sendable (WriteTransaction) throws -> R
    ) throws -> R {
        try runner.write(call, body)
    }

    /// Changes users; signed-in users have their new roles with their next command.
    func changeUsers<R: Sendable>(
        _ call: CommandCall, _ body: @escaping @Sendable (WriteTransaction) throws -> R
    ) throws -> R {
        let result = try write(call, body)
        server.userGeneration.withLock { $0 += 1 }
        return result
    }
}
