internal import BSONStore
internal import StitchRules

/// The backend of a gateway: documents, users and all else that lasts are in a MongoDB deployment.
///
/// ``UpstreamRoute`` decides how a command on documents is answered.
final class GatewayBackend: CommandBackend {
    /// What needs no documents: cursors, sessions, sign-in, and the answers about the server itself.
    let services: StoreBackend
    let link: UpstreamLink
    let catalog = UpstreamCatalog()
    /// The excerpts for commands that read: they have no documents, which the upstream sends when they are
    /// read.
    let emptyExcerpts = ExcerptPool(recordsChanges: false)
    /// The excerpts for commands that write.
    let excerpts = ExcerptPool(recordsChanges: true)
    let feeds: UpstreamFeeds
    private let transactions: TransactionTable<GatewayTransaction>
    private let replies = ReplyLog()
    private let turns = SessionTurns()
    private let userRecords: UpstreamUserRecords
    private let denialLog: DenialLog
    private let conflicts: UpstreamConflicts
    private let tombstones: TombstoneLog
    private let server: ServerContext
    /// The last removal of files to which no document refers; due at the start.
    private let lastSweep = Locked(ContinuousClock.now - .seconds(3_600))
    /// Whether the last check reached the upstream.
    private let reaches = Locked(true)
    /// The figures of the last check.
    private let lastFigures = Locked(BackendFigures())
    /// When the sizes at the upstream were read last; due at the start.
    private let lastSizes = Locked(ContinuousClock.now - .seconds(60))
    /// The edition of the rules whose collections are followed.
    private let watchedEdition = Locked(0)
    /// The collections of which the upstream keeps no earlier documents, although it was asked.
    let withoutImages = Locked<Set<Namespace>>([])

    /// Connects to the upstream, and prepares the gateways' database there.
    ///
    /// - Throws: 6 when it cannot be reached, and the upstream's errors.
    init(_ upstream: any Upstream, _ server: ServerContext) throws {
        self.server = server
        let own = UpstreamLink(upstream: upstream, server: server, metrics: UpstreamMetrics())
        server.clock.restart()
        try GatewayDatabase.prepare(own)
        link = try own.namingUsers()
        feeds = UpstreamFeeds(link)
        userRecords = UpstreamUserRecords(link: link)
        services = try StoreBackend(
            store: DocumentStore(at: .inMemory), server: server, records: userRecords,
            secret: GatewayDatabase.secret(link))
        transactions = TransactionTable(bounds: server.settings.transactions)
        denialLog = DenialLog(link)
        conflicts = UpstreamConflicts(link)
        tombstones = TombstoneLog(link)
        server.deniedWrites.storing.withLock { [denialLog] in $0 = { denialLog.add($0) } }
        try watchRules()
    }

    /// Follows what the present rules read, and records the deletions in the collections that they
    /// name.
    private func watchRules() throws {
        guard let edition = server.settings.rules?.edition else {
            return try userRecords.watch([GatewayDatabase.users])
        }
        guard watchedEdition.withLock({ $0 }) != edition.number else { return }
        let own = edition.rules.customData.map { [$0.namespace] } ?? []
        try userRecords.watch([GatewayDatabase.users] + own)
        try tombstones.watch(edition.rules.namespaces.filter { !$0.database.isEmpty })
        watchedEdition.withLock { $0 = edition.number }
    }

    func signedIn(_ connection: ClientConnection) throws -> SignedInUser? {
        try services.signedIn(connection)
    }

    var signIn: SignIn { services.signIn }

    var isGateway: Bool { true }

    func hasNoUsers() throws -> Bool { try services.hasNoUsers() }

    func isUnderRules(_ call: CommandCall) throws -> Bool { try services.isUnderRules(call) }

    func parse(_ definition: CommandDefinition, _ call: CommandCall) -> ParsedCommand {
        definition.parse(call, services)
    }

    func run(
        _ command: ParsedCommand, _ definition: CommandDefinition, _ call: CommandCall
    ) throws -> CommandOutcome {
        if let session = call.session, server.knows(call.connection) {
            try services.sessions.touch(session, of: call.connection.sessionOwner)
        }
        switch definition.gateway {
        case .here: return try command.answer(services)
        case .users(let concerned): return try changeUsers(concerned, definition, call)
        case .conflicts:
            return try conflicts.take(call, services.rules.ruleGuard(call))
        case .deletesAccount:
            defer { userRecords.noteChange() }
            return try UpstreamAccountDeletion(backend: self, call: call).run()
        case .endsSessions(let stopsCommands):
            if stopsCommands {
                try NamedSessions.check(call.target, of: call.name)
                // A transaction ends after its running command.
                server.operations.stop(
                    sessions: try KillSessionsCommand.sessions(call, services), except: call.budget)
            }
            try call.forEachOwnSession(call.target.arrayValue) { session in
                transactions.forget(SessionTable.key(session))
            }
            return try command.answer(services)
        case .commit: return try commit(call)
        case .abort: return try abort(call)
        case .deletions, .attachments, .upstream, .upstreamOrStream:
            return try runUpstream(command, definition, call)
        }
    }

    /// Runs a command on documents.
    ///
    /// What was parsed for authorization is bound to ``services``, so the command is parsed again for the
    /// store that answers it. What the dispatcher added to it is lost: ``UpstreamRoute`` finds the
    /// server's collections itself; the indexes that `apiStrict` excludes are not checked.
    private func runUpstream(
        _ command: ParsedCommand, _ definition: CommandDefinition, _ call: CommandCall
    ) throws -> CommandOutcome {
        let work = UpstreamWork(
            backend: self, definition: definition, call: call, fault: command.fault,
            ruleGuard: try services.rules.ruleGuard(call))
        let link = link.serving(call.connection)
        guard let request = call.transaction else { return try work.run(link) }
        guard request.isTransaction else { return try repeatable(request, work) }
        let session = call.sessionKey
        let last =
            request.starts
            ? try replies.entry(of: session, for: request.number, link)?.number : nil
        return try transactions.run(
            request, call, lastNumber: last,
            begin: { GatewayTransaction(link, session: session, number: $0) },
            answer: work.run(in:))
    }

    fileprivate func answer(
        _ definition: CommandDefinition, _ call: CommandCall, _ link: UpstreamLink,
        _ ruleGuard: RuleAccessPolicy?
    ) throws -> CommandOutcome {
        let route = try UpstreamRoute(definition, call, ruleGuard)
        switch route {
        case .reading, .merging, .single, .statements:
            // What answers these has no collections of the upstream.
            guard !CollectionUUIDCheck.isAsked(by: call) else {
                throw CommandFailure(
                    .invalidOptions,
                    "a gateway checks no UUID of a collection for users under rules: leave out "
                        + "'collectionUUID'")
            }
        case .stream, .deletions, .attachments, .forwarded, .serverCollection, .collections,
            .databases:
            break
        }
        defer { if call.mayWrite(definition) { userRecords.noteChange(by: call, definition) } }
        let write = GatewayWrite(
            backend: self, link: link, call: call, definition: definition, ruleGuard: ruleGuard)
        let reader = UpstreamReader(link: link, catalog: catalog, ruleGuard: ruleGuard, call: call)
        switch route {
        case .stream: return try stream(call, link, ruleGuard)
        case .deletions: return .reply(try tombstones.answer(call, link, ruleGuard, catalog))
        case .attachments:
            return try attachments(call, definition, link, ruleGuard)
        case .forwarded: return try forward(call, definition, link, ruleGuard, isChecked: false)
        case .serverCollection(let collection):
            try StagePlaces(call).checkAlone(call)
            return try forward(
                call.reading(collection), definition, link, ruleGuard, isChecked: true)
        case .collections: return try listCollections(definition, reader)
        case .databases: return try listDatabases(call, link)
        case .reading:
            return try onEmptyExcerpt(reader) { try definition.parse($0, $1).answer($1) }
        case .merging:
            let merge = MergeNeeds(write)
            return .reply(
                try write.single(into: merge?.target) { try merge?.needs() ?? WriteNeeds() })
        case .single:
            return .reply(try write.single { try WriteNeeds(firstOfQuery: call) })
        case .statements(let list): return .reply(try write.statements(list))
        }
    }

    private func attachments(
        _ call: CommandCall, _ definition: CommandDefinition, _ link: UpstreamLink,
        _ ruleGuard: RuleAccessPolicy?
    ) throws -> CommandOutcome {
        if call.name == CollectAttachmentsCommand.definition.name {
            return try CollectAttachmentsCommand.reply(
                UpstreamAttachments(link: link, call: call).sweep(
                    now: .now, graceMS: CollectAttachmentsCommand.graceMS(call)))
        }
        try ForwardedCommand(
            backend: self, link: link, call: call, definition: definition, ruleGuard: ruleGuard,
            isChecked: false
        ).checkPlace()
        return try GatewayAttachments(link: link, call: call, ruleGuard: ruleGuard).answer()
    }

    private func forward(
        _ call: CommandCall, _ definition: CommandDefinition, _ link: UpstreamLink,
        _ ruleGuard: RuleAccessPolicy?, isChecked: Bool
    ) throws -> CommandOutcome {
        try ForwardedCommand(
            backend: self, link: link, call: call, definition: definition, ruleGuard: ruleGuard,
            isChecked: isChecked
        ).run()
    }

    func connectionClosed(_ connection: ClientConnection) {}

    func tidy() throws {
        services.cursors.endIdle()
        let ended = services.sessions.endIdle()
        for session in ended {
            try services.end(session)
            transactions.forget(SessionTable.key(session))
        }
        transactions.tidy(whileOthersWait: false)
        feeds.tidy()
        MemoryArenas.trim(above: 192 * 1024 * 1024)
        let start = ContinuousClock.now
        let result = Result { try link.run(["ping": 1], on: "admin", repeatedAs: .read, for: nil) }
        reaches.withLock { $0 = result.value != nil }
        if server.settings.consolePort != nil {
            noteFigures(isReachable: result.value != nil, latency: .now - start)
        }
        denialLog.flush()
        userRecords.tidy()
        try watchRules()
        try tombstones.tidy()
        if Self.isDue(lastSweep, every: 3_600) {
            _ = try UpstreamAttachments(link: link, call: nil).sweep(now: .now)
        }
    }

    private static func isDue(
        _ last: Locked<ContinuousClock.Instant>, every seconds: Int
    ) -> Bool {
        last.withLock { last in
            guard last + .seconds(seconds) <= .now else { return false }
            last = .now
            return true
        }
    }

    func figures() -> BackendFigures {
        var figures = lastFigures.withLock { $0 }
        figures.upstream?.feeds = feeds.counts.0
        return figures
    }

    /// Stores the figures of a check, now and then with the sizes at the upstream.
    private func noteFigures(isReachable: Bool, latency: Duration) {
        lastFigures.withLock {
            $0.upstream = .init(isReachable: isReachable, latency: latency, feeds: 0)
        }
        guard isReachable, Self.isDue(lastSizes, every: 10) else { return }
        let (conflicts, bytes) = UpstreamSizes(link: link).read()
        lastFigures.withLock { ($0.conflicts, $0.storageBytes) = (conflicts, bytes) }
    }

    /// Whether clients can be served now: the upstream is reachable and the gateway does not stop.
    var isReady: Bool {
        reaches.withLock { $0 } && !server.state.withLock { $0.isStopping }
    }

    var counts: BackendCounts {
        let (count, streams) = feeds.counts
        return BackendCounts(
            cursors: services.cursors.counts, sessions: services.sessions.all.count,
            text: MetricsText.gateway(
                feeds: count, streams: streams, reaches: reaches.withLock { $0 },
                upstream: link.metrics.all, denials: server.deniedWrites.count))
    }

    func endTransactions() {
        transactions.giveUpAll()
        services.endTransactions()
    }

    /// The longest wait for the upstream to close what clients have left open.
    private static let closingMax: Duration = .milliseconds(500)

    func close() {
        feeds.close()
        userRecords.close()
        endTransactions()
        denialLog.flush()
        emptyExcerpts.close()
        excerpts.close()
        services.close()
        link.closer.finish(within: Self.closingMax)
    }
}

// MARK: - Users, transactions and retries

extension GatewayBackend {
    /// Begins one more run of a write, after a pause if the last one made no progress.
    ///
    /// Where another user's transaction keeps what it writes locked for too long, that one ends.
    ///
    /// - Throws: 112 (WriteConflict) after too many runs.
    func begin(
        _ idle: inout IdleRuns, at progress: [Int], _ link: UpstreamLink, _ call: CommandCall,
        _ definition: CommandDefinition
    ) throws(CommandFailure) {
        let since = link.retryable?.heldUpSince
        if let since, .now - since >= WriterPatience().graceForOthersMax {
            transactions.endHolders(
                of: try call.writtenCollections(definition),
                for: TransactionBounds.owner(call.connection))
        }
        try idle.begin(at: progress, isHeldUp: since != nil)
    }

    /// Runs a command on users: on an excerpt with those that it concerns.
    private func changeUsers(
        _ concerned: ConcernedUsers, _ definition: CommandDefinition, _ call: CommandCall
    ) throws -> CommandOutcome {
        defer { userRecords.noteChange() }
        return try UserWrite(
            backend: self, call: call, definition: definition, concerned: concerned
        ).run()
    }

    private func commit(_ call: CommandCall) throws -> CommandOutcome {
        let request = try TransactionEnd.request(call)
        let session = call.sessionKey
        let entry = ReplyLog.Entry(number: request.number, reply: nil, isTransaction: true)
        // A copy would be taken for another gateway's.
        try turns.begin(session, call)
        defer { turns.end(session) }
        do {
            if let transaction = transactions.current(session, request.number) {
                // Part of the transaction, so that any gateway knows whether it was committed.
                let isFirst = try transaction.use(for: call) {
                    try replies.claim(entry, of: session, $0)
                }
                guard isFirst else {
                    transactions.giveUp(session, request.number)
                    throw TransactionFailures.aborted(request.number)
                }
            }
            try transactions.commit(request.number, session) { false }
        } catch let fault as CommandFailure where fault.code == 251 {
            // It may have been committed by an earlier copy of the request, whose reply was lost.
            do {
                guard try settle(request.number, session) else {
                    throw TransactionFailures.transient(fault)
                }
            } catch var unknown as CommandFailure where unknown.code == UpstreamLink.unreachable {
                unknown.labels.append("UnknownTransactionCommitResult")
                throw unknown
            }
        }
        replies.remember(entry, of: session)
        userRecords.noteChange()
        return .ok
    }

    /// Returns whether a transaction was committed, by any gateway; one that was not never will be.
    ///
    /// - Throws: the upstream's errors; 6 while a gateway may be about to commit it.
    private func settle(_ number: Int64, _ session: [UInt8]) throws -> Bool {
        func isCommitted(isNewest: Bool) throws -> Bool? {
            try replies.entry(of: session, for: number, isNewest: isNewest, link)?.commits(number)
        }
        if try isCommitted(isNewest: false) == true { return true }
        let end = ReplyLog.Entry(
            number: number, reply: nil, isTransaction: true, isAborted: true)
        if try replies.claim(end, of: session, link) { return false }
        guard let isCommitted = try isCommitted(isNewest: true) else { throw ReplyLog.undecided }
        return isCommitted
    }

    private func abort(_ call: CommandCall) throws -> CommandOutcome {
        let request = try TransactionEnd.request(call)
        try transactions.abort(request, call)
        return .ok
    }

    /// Runs a retryable write; one that comes again gets the first reply.
    private func repeatable(
        _ request: TransactionRequest, _ work: UpstreamWork
    ) throws -> CommandOutcome {
        let session = work.call.sessionKey
        // A copy of a command that still runs gets the reply of that one.
        try turns.begin(session, work.call)
        defer { turns.end(session) }
        let number = request.number
        guard transactions.current(session, number) == nil else {
            throw TransactionFailures.mustNameTransaction
        }
        if let reply = try knownReply(number, session) { return .reply(reply) }
        let retryable = RetryableWrite(
            session: session, number: number, replies, for: work.call)
        do {
            let own = link.serving(work.call.connection)
            let outcome = try work.run(own.carrying(out: retryable))
            guard case .reply(let reply) = outcome, !retryable.hasLanded else { return outcome }
            // Else a copy that comes later could be carried out, after this answer.
            let entry = ReplyLog.Entry(number: number, reply: reply)
            do {
                guard try replies.claim(entry, of: session, link) else {
                    throw RetryableWrite.Superseded()
                }
            } catch is CommandFailure where retryable.isOutside {
                // It has landed; an error would have the client send it again.
            }
            replies.remember(entry, of: session)
            return outcome
        } catch is RetryableWrite.Superseded {
            guard let reply = try knownReply(number, session, isNewest: true) else {
                throw ReplyLog.undecided
            }
            return .reply(reply)
        } catch let end as CloseConnectionRequest {
            throw end
        } catch {
            var fault = CommandFailure(error)
            let isOfServer = ErrorLabels.isOfServer(fault.code)
            if !isOfServer {
                // A failure such as "duplicate" may be due to another copy, or an attempt of this one.
                if let reply = try knownReply(number, session, isNewest: true) {
                    return .reply(reply)
                }
                if retryable.isUnknown { fault = ReplyLog.undecided }
            }
            if !retryable.isOutside, !fault.labels.contains(Self.repeats),
                isOfServer || ErrorLabels.transient.contains(fault.code)
            {
                fault.labels.append(Self.repeats)
            }
            throw fault
        }
    }

    /// The label after which drivers send a write again.
    private static let repeats = "RetryableWriteError"
}

extension GatewayBackend {
    /// Returns the reply to a write that was carried out before; `nil` for a new one.
    ///
    /// - Throws: 225 (TransactionTooOld) when the session did something later, or a transaction of
    ///   that number.
    private func knownReply(
        _ number: Int64, _ session: [UInt8], isNewest: Bool = false
    ) throws -> BSONDocument? {
        guard
            let known = try replies.entry(
                of: session, for: number, isNewest: isNewest, link), known.number >= number
        else { return nil }
        guard known.number == number, let reply = known.reply else {
            throw TransactionFailures.retryTooOld(number, known.number)
        }
        return reply
    }
}

/// A command on documents of the upstream, with the rules for its user.
private struct UpstreamWork {
    let backend: GatewayBackend
    let definition: CommandDefinition
    let call: CommandCall
    /// The error of arguments of which the access was not checked (``ParsedCommand/fault``).
    let fault: (any Error)?
    let ruleGuard: RuleAccessPolicy?

    func run(_ link: UpstreamLink) throws -> CommandOutcome {
        if let fault { throw fault }
        return try backend.answer(definition, call, link, ruleGuard)
    }

    func run(in transaction: GatewayTransaction) throws -> CommandOutcome {
        transaction.noteWrite(of: try call.writtenCollections(definition))
        return try transaction.use(for: call, run)
    }
}

extension CommandCall {
    /// The command on the upstream's collection in which gateways keep what the server fills.
    fileprivate func reading(_ collection: ServerCollection) -> CommandCall {
        var body = body
        body.set(givenName, to: .string(collection.upstream.collection))
        return CommandCall(
            signature: signature, givenName: givenName, body: body, sequences: sequences,
            database: GatewayDatabase.name, connection: connection, server: server,
            budget: budget, session: session, transaction: transaction, snapshot: nil,
            time: time, allowsExhaust: false)
    }
}
