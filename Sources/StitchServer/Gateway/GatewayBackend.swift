internal import BSONStore
internal import StitchRules

/// The backend of a gateway: documents, users and all else that lasts are in a MongoDB deployment.
///
/// A command of a user under rules runs on an ``Excerpt`` of the upstream, by the same code as on a
/// store. A command of a user whom no rules bind is sent upstream as it is.
final class GatewayBackend: CommandBackend {
    /// What needs no documents: cursors, sessions, sign-in, and the answers about the server itself.
    let front: StoreBackend
    let link: UpstreamLink
    let catalog = UpstreamCatalog()
    let excerpts = ExcerptPool()
    let feeds: UpstreamFeeds
    private let transactions: TransactionTable<GatewayTransaction>
    private let replies = ReplyLog()
    private let records: UpstreamUserRecords
    private let denials: DenialLog
    private let tombstones: TombstoneLog
    private let server: ServerContext
    /// Whether the last check reached the upstream.
    private let reaches = Locked(true)

    /// Connects to the upstream, and prepares the gateways' database there.
    ///
    /// - Throws: 6 when it cannot be reached, and the upstream's errors.
    init(_ upstream: any Upstream, _ server: ServerContext) throws {
        self.server = server
        link = UpstreamLink(upstream: upstream, server: server, metrics: UpstreamMetrics())
        try GatewayDatabase.prepare(link)
        feeds = UpstreamFeeds(link)
        records = UpstreamUserRecords(link: link)
        front = try StoreBackend(
            store: DocumentStore(at: .inMemory), server: server, records: records,
            secret: GatewayDatabase.secret(link))
        transactions = TransactionTable(bounds: server.settings.transactions)
        denials = DenialLog(link)
        tombstones = TombstoneLog(link)
        server.denials.copies.withLock { [denials] in $0 = { denials.add($0) } }
        let rules = server.settings.rules?.edition.rules
        try records.watch(customData: rules?.customData)
        try tombstones.watch(rules?.namespaces.filter { !$0.database.isEmpty } ?? [])
    }

    func signedIn(_ connection: ClientConnection) throws -> SignedInUser? {
        try front.signedIn(connection)
    }

    func hasNoUsers() throws -> Bool { try front.hasNoUsers() }

    func isUnderRules(_ call: CommandCall) throws -> Bool { try front.isUnderRules(call) }

    func parse(_ rule: CommandDefinition, _ call: CommandCall) -> ParsedCommand {
        rule.parse(call, front)
    }

    func run(
        _ command: ParsedCommand, _ rule: CommandSignature, _ call: CommandCall
    ) throws -> CommandOutcome {
        if let session = call.session, server.knows(call.connection) {
            front.sessions.touch(session)
        }
        switch GatewayRoute(rule.name) {
        case .here: return try command.answer(front)
        case .users: return try changeUsers(call)
        case .sessionEnds:
            for session in try call.ownSessions(call.target.arrayValue) {
                transactions.forget(SessionTable.key(session))
            }
            return try command.answer(front)
        case .commit: return try commit(call)
        case .abort: return try abort(call)
        case .upstream: return try runUpstream(command, rule, call)
        }
    }

    private func runUpstream(
        _ command: ParsedCommand, _ rule: CommandSignature, _ call: CommandCall
    ) throws -> CommandOutcome {
        let work = UpstreamWork(
            backend: self, rule: rule, call: call, ruleGuard: try front.rules.ruleGuard(call))
        guard let request = call.transaction else { return try work.run(link) }
        guard request.isTransaction else { return try repeatable(request, work) }
        let session = call.sessionKey
        let last = request.starts ? try replies.entry(of: session, link)?.number : nil
        return try transactions.run(
            request, call, rule, lastNumber: last,
            begin: { [link] in GatewayTransaction(link, session: session, number: $0) },
            answer: work.run(in:))
    }

    fileprivate func run(
        _ rule: CommandSignature, _ call: CommandCall, _ link: UpstreamLink,
        _ ruleGuard: RuleAccessPolicy?
    ) throws -> CommandOutcome {
        if rule.name == "aggregate", let stream = try stream(call, link, ruleGuard) {
            return stream
        }
        guard let ruleGuard else {
            defer { if rule.traits.contains(.writes) { records.noteChange() } }
            let forwarded = call.namesDeniedWrites ? call.readingDeniedWrites : call
            return try ForwardedCommand(backend: self, link: link, call: forwarded, rule: rule)
                .run()
        }
        return try runUnderRules(rule, call, link, ruleGuard)
    }

    private func runUnderRules(
        _ rule: CommandSignature, _ call: CommandCall, _ link: UpstreamLink,
        _ ruleGuard: RuleAccessPolicy
    ) throws -> CommandOutcome {
        guard let definition = CommandTable.find(rule.name) else {
            throw CommandFailure(59, "no such command: '\(rule.name)'")
        }
        let write = GatewayWrite(
            backend: self, link: link, call: call, rule: definition, ruleGuard: ruleGuard)
        switch rule.name {
        case "insert", "update", "delete", "bulkWrite":
            defer { records.noteChange() }
            return .reply(try write.statements(StatementNeeds.field(rule.name) ?? ""))
        case "findAndModify":
            defer { records.noteChange() }
            return .reply(try write.single { try CommandNeeds(call) })
        case "aggregate" where call.writesResults:
            defer { records.noteChange() }
            return .reply(try write.single { try MergeNeeds(write: write).needs() })
        case "listCollections": return try listCollections(definition, call, link, ruleGuard)
        case "listDatabases": return try listDatabases(call, link)
        case "stitchsyncTombstones":
            return .reply(try tombstones.answer(call, ruleGuard))
        default: return try read(definition, call, link, ruleGuard)
        }
    }

    func connectionClosed(_ connection: ClientConnection) {}

    func tidy() throws {
        front.cursors.endIdle()
        let ended = front.sessions.endIdle()
        front.end(ended)
        for session in ended { transactions.forget(SessionTable.key(session)) }
        transactions.tidy(whileOthersWait: false)
        feeds.tidy()
        MemoryArenas.trim(above: 192 * 1024 * 1024)
        let result = Result { try link.run(["ping": 1], on: "admin", .read, for: nil) }
        reaches.withLock { $0 = result.value != nil }
        denials.flush()
        try tombstones.tidy()
    }

    /// Whether clients can be served now: the upstream is reachable and the gateway does not stop.
    var isReady: Bool {
        reaches.withLock { $0 } && !server.state.withLock { $0.isStopping }
    }

    var counts: BackendCounts {
        let (count, streams) = feeds.counts
        return BackendCounts(
            cursors: front.cursors.counts, sessions: front.sessions.all.count,
            text: MetricsText.gateway(
                feeds: count, streams: streams, reaches: reaches.withLock { $0 },
                upstream: link.metrics.all, denials: server.denials.count))
    }

    func endTransactions() {
        transactions.giveUpAll()
        front.endTransactions()
    }

    func close() {
        feeds.close()
        records.close()
        endTransactions()
        denials.flush()
        excerpts.close()
        front.close()
    }
}

// MARK: - Reading

extension GatewayBackend {
    /// Runs a command that reads on an excerpt.
    private func read(
        _ rule: CommandDefinition, _ call: CommandCall, _ link: UpstreamLink,
        _ ruleGuard: RuleAccessPolicy
    ) throws -> CommandOutcome {
        let loader = ExcerptLoader(
            link: link, catalog: catalog, ruleGuard: ruleGuard, call: call)
        let parts = try loader.parts(try CommandNeeds(call))
        return try onExcerpt(rule, call, parts, ruleGuard)
    }

    private func onExcerpt(
        _ rule: CommandDefinition, _ call: CommandCall, _ parts: [ExcerptPart],
        _ ruleGuard: RuleAccessPolicy
    ) throws -> CommandOutcome {
        try excerpts.withExcerpt { excerpt in
            _ = try excerpt.fill(parts)
            let store = StoreBackend(excerpt.store, sharing: front, under: ruleGuard)
            let alone = call.alone
            return try rule.parse(alone, store).answer(store)
        }
    }

    /// Lists the collections that the user sees, with the UUIDs that they have upstream.
    private func listCollections(
        _ rule: CommandDefinition, _ call: CommandCall, _ link: UpstreamLink,
        _ ruleGuard: RuleAccessPolicy
    ) throws -> CommandOutcome {
        let entries = try UpstreamCatalog.entries(call.database, [:], link, for: call)
        let parts = entries.compactMap { entry -> ExcerptPart? in
            guard let name = entry["name"]?.stringValue, !name.hasPrefix("system."),
                !ruleGuard.access(Namespace(call.database, name)).isNever
            else { return nil }
            return ExcerptPart(
                namespace: Namespace(call.database, name),
                definition: UpstreamDefinition(entry: entry, indexes: nil))
        }
        let sorted = parts.sorted { one, _ in one.definition?.viewOn == nil }
        let outcome = try onExcerpt(rule, call, sorted, ruleGuard)
        guard case .reply(var reply) = outcome, var cursor = reply["cursor"]?.documentValue else {
            return outcome
        }
        let uuids = Dictionary(
            parts.map { (Name($0.namespace.collection), $0.definition?.uuid) }
        ) { first, _ in first }
        let batch = (cursor["firstBatch"]?.arrayValue ?? []).compactMap(\.documentValue)
        let corrected = batch.map { entry -> BSONValue in
            guard var info = entry["info"]?.documentValue, info["uuid"] != nil,
                let uuid = uuids[entry["name"]?.stringValue ?? ""] ?? nil
            else { return .document(entry) }
            var entry = entry
            info.set("uuid", to: uuid)
            entry.set("info", to: .document(info))
            return .document(entry)
        }
        cursor.set("firstBatch", to: .array(BSONArray(corrected)))
        reply.set("cursor", to: .document(cursor))
        return .reply(reply)
    }

    /// Lists the databases on which the user has a role.
    private func listDatabases(
        _ call: CommandCall, _ link: UpstreamLink
    ) throws -> CommandOutcome {
        let reply = try link.run(["listDatabases": 1], on: "admin", .read, for: call)
        let filter = try Filter(call.document("filter") ?? [:])
        let user = call.connection.state.withLock { $0.user }
        let shown = (reply["databases"]?.arrayValue ?? []).compactMap(\.documentValue)
            .filter { database in
                let name = database["name"]?.stringValue ?? ""
                return filter.matches(database) && user?.hasRole(.read, on: name) == true
            }
            .map { database -> BSONValue in
                // Sizes would tell of what is hidden.
                call.flag("nameOnly")
                    ? ["name": database["name"] ?? .null]
                    : ["name": database["name"] ?? .null, "sizeOnDisk": 0, "empty": false]
            }
        return .reply(["databases": .array(BSONArray(shown)), "totalSize": 0, "totalSizeMb": 0])
    }

    /// Opens a change stream; `nil` for another pipeline.
    private func stream(
        _ call: CommandCall, _ link: UpstreamLink, _ ruleGuard: RuleAccessPolicy?
    ) throws -> CommandOutcome? {
        let request = try AggregateRequest(call)
        guard let options = try request.changeStream() else { return nil }
        try request.checkTransaction(call)
        let level = call.document("readConcern")?["level"]?.stringValue ?? "majority"
        guard level == "majority" else {
            throw CommandFailure(
                .invalidOptions,
                "Aggregation stage $changeStream cannot run with a readConcern other than "
                    + "'majority'. Current readConcern: \(level)")
        }
        guard call["cursor"] != nil else {
            throw CommandFailure(
                .failedToParse,
                "The 'cursor' option is required, except for aggregate with the explain argument")
        }
        let batchSize = try CursorArgument.batchSize(call)
        let stage = try ChangeStreamStage(options, readsTokens: false)
        let namespace = try AggregateCommand.target(call)
        let scope = try ChangeStreamScope(namespace, isForCluster: stage.isForCluster)
        let isHidden = scope.namespace.map { ruleGuard?.access($0).isNever == true } ?? false
        if ruleGuard != nil, !isHidden { try keepImages(of: scope, link, for: call) }
        let source = try GatewayStream(
            stage, scope, rest: request.rest,
            options: PipelineOptions(
                let: call.document("let"), collation: try call.collation(),
                sources: ServerSources(front, for: call).byName),
            self, under: ruleGuard, for: call)
        return try CursorReply.open(
            source, namespace, call, on: front, under: ruleGuard, batchSize: batchSize,
            options: CursorOptions(isTailable: true, awaitsData: true))
    }

    /// Has the upstream keep the documents before changes: they tell who saw a document that is now
    /// hidden or deleted.
    private func keepImages(
        of scope: ChangeStreamScope, _ link: UpstreamLink, for call: CommandCall
    ) throws {
        switch scope {
        case .collection(let namespace):
            guard
                let known = try catalog.definition(namespace, withIndexes: false, link, for: call)
            else { return }
            guard known.viewOn == nil else { throw StoreError.view(namespace) }
            if !known.keepsImages { try keepImages(of: namespace, link) }
        case .database(let database):
            for entry in try UpstreamCatalog.entries(database, [:], link, for: call) {
                let known = UpstreamDefinition(entry: entry, indexes: nil)
                guard known.viewOn == nil, !known.keepsImages,
                    let name = entry["name"]?.stringValue, !name.hasPrefix("system.")
                else { continue }
                try keepImages(of: Namespace(database, name), link)
            }
        case .cluster: break
        }
    }

    private func keepImages(of namespace: Namespace, _ link: UpstreamLink) throws {
        do {
            _ = try link.run(
                [
                    "collMod": .string(namespace.collection),
                    "changeStreamPreAndPostImages": ["enabled": true],
                ], on: namespace.database, .read, for: nil)
        } catch let fault as CommandFailure {
            // Without the privilege, streams are right but end more often.
            server.settings.log.write(
                .warning,
                "cannot keep earlier documents of \(namespace), so streams of users under rules "
                    + "end when a document may have left their view: \(fault.message)")
        }
        catalog.forget(namespace)
    }
}

// MARK: - Users, transactions and retries

extension GatewayBackend {
    /// Runs a command on users: on an excerpt with those that it concerns.
    private func changeUsers(_ call: CommandCall) throws -> CommandOutcome {
        guard let definition = CommandTable.find(call.name) else { return .ok }
        defer { records.noteChange() }
        return try UserWrite(backend: self, call: call, rule: definition).run()
    }

    private func commit(_ call: CommandCall) throws -> CommandOutcome {
        let request = try TransactionEnd.request(call)
        let session = call.sessionKey
        let entry = ReplyLog.Entry(number: request.number, reply: nil, isTransaction: true)
        do {
            if let transaction = transactions.current(session, request.number) {
                // Part of the transaction, so that any gateway knows whether it was committed.
                try transaction.use { link in
                    _ = try link.run(
                        ReplyLog.command(entry, session), on: GatewayDatabase.name, .write,
                        for: nil)
                }
            }
            try transactions.commit(request.number, session) {
                let known = try replies.entry(of: session, link)
                return known?.isTransaction == true && known?.number == request.number
            }
        } catch let fault as CommandFailure where fault.code == 251 {
            throw TransactionEnd.transient(fault)
        }
        replies.remember(entry, of: session)
        records.noteChange()
        return .ok
    }

    private func abort(_ call: CommandCall) throws -> CommandOutcome {
        let request = try TransactionEnd.request(call)
        try transactions.abort(request.number, call.sessionKey)
        return .ok
    }

    /// Runs a retryable write; one that comes again gets the first reply.
    private func repeatable(
        _ request: TransactionRequest, _ work: UpstreamWork
    ) throws -> CommandOutcome {
        let session = work.call.sessionKey
        if let known = try replies.entry(of: session, link) {
            guard known.number <= request.number else {
                throw CommandFailure(
                    225,
                    "Retryable write with txnNumber \(request.number) is prohibited on session "
                        + "because a newer retryable write with txnNumber \(known.number) has "
                        + "already started on this session.")
            }
            if known.number == request.number, let reply = known.reply { return .reply(reply) }
        }
        let outcome = try work.run(link)
        guard case .reply(let reply) = outcome else { return outcome }
        try replies.note(
            ReplyLog.Entry(number: request.number, reply: reply), of: session,
            lasts: reply["n"]?.wholeNumber ?? 1 > 0, link)
        return outcome
    }
}

/// A command on documents of the upstream, with the rules for its user.
private struct UpstreamWork {
    let backend: GatewayBackend
    let rule: CommandSignature
    let call: CommandCall
    let ruleGuard: RuleAccessPolicy?

    func run(_ link: UpstreamLink) throws -> CommandOutcome {
        try backend.run(rule, call, link, ruleGuard)
    }

    func run(in transaction: GatewayTransaction) throws -> CommandOutcome {
        try transaction.use(run)
    }
}

/// The place where a gateway runs a command.
enum GatewayRoute {
    /// In the gateway itself.
    case here
    /// On the users in the upstream.
    case users
    /// In the gateway, which also ends transactions of the sessions.
    case sessionEnds
    case commit, abort
    /// On documents of the upstream.
    case upstream

    private static let userCommands: Set<String> = [
        "createUser", "updateUser", "dropUser", "dropAllUsersFromDatabase", "grantRolesToUser",
        "revokeRolesFromUser", "usersInfo", "stitchsyncSignUp",
    ]
    private static let ownCommands: Set<String> = [
        "hello", "isMaster", "saslStart", "saslContinue", "logout", "connectionStatus", "ping",
        "buildInfo", "features", "hostInfo", "whatsmyuri", "listCommands", "getMore",
        "killCursors", "startSession", "refreshSessions", "getLastError", "getLog",
        "getParameter", "setParameter", "getCmdLineOpts", "serverStatus", "connPoolStats", "top",
        "currentOp", "killOp", "configureFailPoint", "reloadRules", "replSetGetStatus",
        "replSetGetConfig", "replSetStepDown", "replSetFreeze", "logRotate",
        "getDefaultRWConcern", "fsync", "setFeatureCompatibilityVersion", "testDeprecation",
        "testVersion2", "killAllSessions",
    ]

    init(_ command: String) {
        switch command {
        case "commitTransaction": self = .commit
        case "abortTransaction": self = .abort
        case "endSessions", "killSessions": self = .sessionEnds
        case _ where Self.userCommands.contains(command): self = .users
        case _ where Self.ownCommands.contains(command): self = .here
        default: self = .upstream
        }
    }
}

extension CommandCall {
    /// The command on the collection in which gateways keep denied writes.
    fileprivate var readingDeniedWrites: CommandCall {
        var body = body
        body.set(givenName, to: .string(GatewayDatabase.denied.collection))
        return CommandCall(
            name: name, givenName: givenName, body: body, sequences: sequences,
            database: GatewayDatabase.name, connection: connection, server: server,
            budget: budget, session: session, transaction: transaction, snapshot: nil,
            allowsExhaust: false)
    }
}
