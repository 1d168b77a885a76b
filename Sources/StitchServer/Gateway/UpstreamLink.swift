internal import BSONStore

/// A sender of commands to the upstream, within a client's transaction if one is open.
struct UpstreamLink: Sendable {
    let upstream: any Upstream
    let server: ServerContext
    let metrics: UpstreamMetrics
    /// Closes the upstream's cursors that are not read any more.
    let closer: UpstreamCursorCloser
    /// Whether the upstream is a `serve`, whose writers take turns by user: commands name theirs.
    var namesUsers = false
    /// The user whose share of the connections is used; `nil` for the gateway itself.
    var user: [UInt8]?
    /// The session of the transaction; `nil` outside of one.
    var session: (any UpstreamSession)?
    /// The place of a cursor; `nil` for other commands.
    var place: (any UpstreamPlace)?
    /// The client's retryable write, whose reply lasts; `nil` for other commands.
    var retryable: RetryableWrite?

    /// Returns a link whose commands belong to a session; `nil` for none.
    func within(_ session: (any UpstreamSession)?) -> UpstreamLink {
        var link = self
        link.session = session
        return link
    }

    /// Returns a link for the commands of a retryable write.
    func carrying(out retryable: RetryableWrite) -> UpstreamLink {
        var link = self
        link.retryable = retryable
        return link
    }

    init(upstream: any Upstream, server: ServerContext, metrics: UpstreamMetrics) {
        self.upstream = upstream
        self.server = server
        self.metrics = metrics
        closer = UpstreamCursorCloser()
    }

    /// Returns a link whose connections are those of a client's user.
    func serving(_ connection: ClientConnection) -> UpstreamLink {
        var link = self
        link.user = TransactionBounds.owner(connection)
        return link
    }

    private func caller(_ call: CommandCall?) -> UpstreamCaller {
        UpstreamCaller(user: user, budget: call?.budget)
    }

    /// Returns a link for the commands of a new cursor.
    ///
    /// - Throws: as ``run(_:on:repeatedAs:for:)`` does.
    func atNewPlace(for call: CommandCall?) throws -> UpstreamLink {
        var link = self
        link.place = try answered(call) { () throws(UpstreamFailure) in
            try upstream.place(for: caller(call))
        }
        return link
    }

    /// Takes a connection with a session, and begins a transaction in it.
    ///
    /// - Parameter readsNewest: whether it need not read one snapshot.
    /// - Throws: as ``run(_:on:repeatedAs:for:)`` does.
    func beginTransaction(
        readsNewest: Bool = false, for call: CommandCall?
    ) throws -> any UpstreamSession {
        let session = try answered(call) { () throws(UpstreamFailure) in
            try upstream.openSession(for: caller(call))
        }
        do throws(UpstreamFailure) {
            try session.startTransaction(readsNewest: readsNewest)
            return session
        } catch {
            session.end()
            throw failure(error)
        }
    }

    /// Commits the transaction of a session.
    ///
    /// - Throws: the failure with the upstream's labels; with `UnknownTransactionCommitResult` when
    ///   it is unknown whether it is committed.
    func commit(_ session: any UpstreamSession) throws(CommandFailure) {
        do throws(UpstreamFailure) {
            try session.commitTransaction()
        } catch {
            var fault = failure(error)
            fault.labels = error.labels
            if error.kind != .answer { fault.labels.append("UnknownTransactionCommitResult") }
            throw fault
        }
    }

    /// Sends a command and returns its reply.
    ///
    /// - Parameters:
    ///   - kind: the way in which it is sent again after a failed connection. A write that may run twice is
    ///     repeated as a read.
    ///   - call: the client's command, whose time limit holds for this one, too.
    /// - Throws: the failure for the client: 6 (HostUnreachable) when the upstream cannot be
    ///   reached, else the upstream's error.
    func run(
        _ command: BSONDocument, on database: String, repeatedAs kind: UpstreamCommandKind,
        for call: CommandCall?
    ) throws -> BSONDocument {
        let limited = named(try Self.limited(command, for: call))
        let caller = caller(call)
        return try answered(call) {
            () throws(UpstreamFailure) in
            if let session { return try session.run(limited, on: database, for: caller) }
            if let place { return try place.run(limited, on: database, for: caller) }
            return try upstream.run(limited, on: database, kind, for: caller)
        }
    }

    /// Calls a body with each document of a query's result.
    ///
    /// A connection that breaks before the first document is replaced once.
    ///
    /// - Throws: as ``run(_:on:repeatedAs:for:)`` does, and the errors of the body.
    func find(
        _ namespace: Namespace, _ query: UpstreamQuery, for call: CommandCall?,
        _ body: (BSONDocument) throws -> Void
    ) throws {
        var query = query
        // A transaction has a read concern of its own.
        if session != nil { query.isCommitted = false }
        let command = query.command(namespace)
        if query.isSmall, session == nil {
            let first = UpstreamBatch(
                try run(command, on: namespace.database, repeatedAs: .read, for: call))
            guard first.cursor != 0 else {
                for document in first.documents { try body(document) }
                return
            }
            // The rest would need the session of the first batch; it is read anew with one.
            _ = try run(first.kill(namespace), on: namespace.database, repeatedAs: .read, for: call)
        }
        var count = 0
        do {
            try readAll(namespace, command, for: call) { document in
                count += 1
                try body(document)
            }
        } catch let fault as CommandFailure where fault.code == Self.unreachable && count == 0 {
            guard session == nil else { throw fault }
            try readAll(namespace, command, for: call, body)
        }
    }

    /// Returns how many documents a query finds.
    ///
    /// The upstream's own `count` would trust numbers that can be wrong on a sharded cluster.
    ///
    /// - Parameter limit: the number after which to stop counting; 0 for no limit.
    /// - Throws: as ``run(_:on:repeatedAs:for:)`` does.
    func count(
        _ namespace: Namespace, _ query: UpstreamQuery, limit: Int, for call: CommandCall?
    ) throws -> Int {
        var stages: [BSONDocument] = [["$match": .document(query.filter)], ["$count": "n"]]
        if limit > 0 { stages.insert(["$limit": .int64(Int64(limit))], at: 1) }
        var command: BSONDocument = [
            "aggregate": .string(namespace.collection),
            "pipeline": .array(BSONArray(stages.map(BSONValue.document))), "cursor": [:],
        ]
        if let variables = query.variables { command.append("let", .document(variables)) }
        if let collation = query.collation { command.append("collation", .document(collation)) }
        // A transaction has a read concern of its own.
        if query.isCommitted, session == nil {
            command.append("readConcern", ["level": "majority"])
        }
        let reply = try run(command, on: namespace.database, repeatedAs: .read, for: call)
        return max(0, UpstreamBatch(reply).documents.first?["n"]?.wholeNumber ?? 0)
    }

    private static let emptyBatchesMax = 100

    private func readAll(
        _ namespace: Namespace, _ command: BSONDocument, for call: CommandCall?,
        _ body: (BSONDocument) throws -> Void
    ) throws {
        let link = try session == nil ? atNewPlace(for: call) : self
        var batch = UpstreamBatch(
            try link.run(command, on: namespace.database, repeatedAs: .read, for: call))
        var emptyCount = 0
        do {
            while true {
                for document in batch.documents { try body(document) }
                guard batch.cursor != 0 else { return }
                emptyCount = batch.documents.isEmpty ? emptyCount + 1 : 0
                guard emptyCount < Self.emptyBatchesMax else {
                    throw CommandFailure(
                        .internalError, "the database behind this gateway does not end a result")
                }
                batch = UpstreamBatch(
                    try link.run(
                        batch.more(namespace), on: namespace.database, repeatedAs: .read, for: call)
                )
            }
        } catch {
            if batch.cursor != 0 { link.close(batch.cursor, namespace) }
            throw error
        }
    }

    /// Has the upstream close a cursor, soon: it would keep a forgotten one for a while.
    ///
    /// A cursor of a transaction ends with it.
    func close(_ cursor: Int64, _ namespace: Namespace) {
        guard session == nil, let place else { return }
        closer.close(.init(id: cursor, namespace: namespace, place: place))
    }

    /// The time limit of the gateway's own commands, in milliseconds.
    private static let ownMaxMS: Int64 = 30_000

    /// Adds what is left of the client's time, or the limit of the gateway's own work.
    ///
    /// MongoDB counts the time of a cursor's later batches against that of its first command.
    private static func limited(
        _ command: BSONDocument, for call: CommandCall?
    ) throws -> BSONDocument {
        try call?.checkTime()
        guard command["maxTimeMS"] == nil, command.keys.first != "getMore" else { return command }
        let rest: Int64
        if let call {
            guard let deadline = call.deadline else { return command }
            rest = Int64(max(1, (deadline - ContinuousClock.now).milliseconds))
        } else {
            // Of a change stream it would be the whole time.
            guard !opensStream(command) else { return command }
            rest = ownMaxMS
        }
        var command = command
        command.append("maxTimeMS", .int64(min(rest, 2_147_483_647)))
        return command
    }

    /// The commands that write documents, or may begin a transaction that does.
    private static let takingTurns: Set<Name> = [
        "insert", "update", "delete", "findAndModify", "findandmodify", "bulkWrite", "aggregate",
        "find", "count", "distinct",
    ]

    /// Adds the user for whom the command is sent, where users take turns.
    private func named(_ command: BSONDocument) -> BSONDocument {
        guard namesUsers, let user,
            Self.takingTurns.contains(Name(command.keys.first ?? ""))
        else { return command }
        var command = command
        let client = CommandCall.client(of: user, isBrief: session != nil && retryable != nil)
        command[CommandCall.clientField] = .document(client)
        return command
    }

    /// Returns a link that names the users to an upstream that asks for it.
    ///
    /// - Throws: as ``run(_:on:repeatedAs:for:)`` does.
    func namingUsers() throws -> UpstreamLink {
        let hello = try run(["hello": 1], on: "admin", repeatedAs: .read, for: nil)
        var link = self
        link.namesUsers = hello["stitchsync"] != nil
        return link
    }

    private static func opensStream(_ command: BSONDocument) -> Bool {
        let first = command["pipeline"]?.arrayValue?.values.first?.documentValue
        return first?[ChangeStreamStage.name] != nil
    }

    /// Runs a body that asks the upstream.
    ///
    /// - Throws: why the client's command ended, if it did; else the failure for the client.
    private func answered<R>(
        _ call: CommandCall?, _ body: () throws(UpstreamFailure) -> R
    ) throws(CommandFailure) -> R {
        let start = ContinuousClock.now
        do throws(UpstreamFailure) {
            let result = try body()
            metrics.note(ContinuousClock.now - start, isFailure: false)
            if let reply = result as? BSONDocument { follow(reply) }
            return result
        } catch {
            metrics.note(ContinuousClock.now - start, isFailure: error.kind != .answer)
            // The upstream was told to end the command.
            try call?.checkTime()
            throw failure(error)
        }
    }

    /// Takes over the upstream's time, so that times in replies do not run behind it.
    private func follow(_ reply: BSONDocument) {
        guard case .timestamp(let time)? = reply["operationTime"] else { return }
        server.clock.follow(time)
    }
}

// MARK: - Failures

extension UpstreamLink {
    /// HostUnreachable, after which drivers and the sync engine try again.
    static let unreachable: Int32 = 6

    /// Returns the failure for the client.
    ///
    /// Hosts, users and other facts about the upstream are for the operator's log only.
    func failure(_ failure: UpstreamFailure) -> CommandFailure {
        let log = server.settings.log
        switch failure.kind {
        case .unreachable:
            log.write(.warning, "the upstream cannot be reached: \(failure.message)")
            return CommandFailure(
                Self.unreachable, "the database behind this gateway cannot be reached; try again")
        case .busy:
            log.write(.warning, "a command waited in vain for a connection: \(failure.message)")
            return CommandFailure(
                Self.unreachable,
                "\(failure.message) to the database behind this gateway; try again")
        case .signIn:
            log.write(
                .warning, "the upstream refuses the gateway's sign-in: \(failure.message)")
            return CommandFailure(
                Self.unreachable,
                "the database behind this gateway does not let the gateway in; ask the operator")
        case .answer:
            if failure.code == 13 || failure.code == 18 {
                log.write(.warning, "the upstream does not allow this: \(failure.message)")
                return CommandFailure(
                    8_000,
                    "the gateway lacks a privilege at the database behind it; ask the operator")
            }
            var fault = CommandFailure(
                failure.code, failure.message,
                labels: failure.labels.filter { $0 != "RetryableWriteError" })
            for field in ["keyPattern", "keyValue", "errInfo"] {
                if let value = failure.reply?[field] { fault.details.append(field, value) }
            }
            return fault
        }
    }
}

/// The statistics of the commands that a gateway sends upstream.
final class UpstreamMetrics: Sendable {
    /// The sums of all commands.
    struct Sums: Sendable {
        var count = 0
        /// The commands that got no answer.
        var failures = 0
        var seconds = 0.0
    }

    private let sums = Locked(Sums())

    /// Counts a command.
    func note(_ duration: Duration, isFailure: Bool) {
        let seconds = duration / .seconds(1)
        sums.withLock { sums in
            sums.count += 1
            sums.seconds += seconds
            if isFailure { sums.failures += 1 }
        }
    }

    /// The sums so far.
    var all: Sums { sums.withLock { $0 } }
}

/// One batch of an upstream cursor.
struct UpstreamBatch: Sendable {
    /// The cursor's id; 0 at its end.
    let cursor: Int64
    let documents: [BSONDocument]
    /// The token from which a change stream can resume after this batch.
    let token: BSONDocument?

    init(_ reply: BSONDocument) {
        let body = reply["cursor"]?.documentValue ?? [:]
        cursor = body["id"]?.int64Value ?? 0
        let batch = body["firstBatch"] ?? body["nextBatch"]
        documents = (batch?.arrayValue ?? []).compactMap { $0.documentValue?.compacted() }
        token = body["postBatchResumeToken"]?.documentValue?.compacted()
    }

    /// Returns the command for the next batch.
    func more(_ namespace: Namespace, size: Int? = nil) -> BSONDocument {
        var command: BSONDocument = [
            "getMore": .int64(cursor), "collection": .string(namespace.collection),
        ]
        if let size { command.append("batchSize", .int64(Int64(size))) }
        return command
    }

    /// Returns the command that closes the cursor.
    func kill(_ namespace: Namespace) -> BSONDocument {
        ["killCursors": .string(namespace.collection), "cursors": [.int64(cursor)]]
    }
}
