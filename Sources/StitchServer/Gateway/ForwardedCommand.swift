internal import BSONStore
internal import StitchRules

/// A command of a user whom no rules bind: it is sent upstream as it is, except for the user's
/// roles (``OwnRoles``).
struct ForwardedCommand {
    let backend: GatewayBackend
    let link: UpstreamLink
    let call: CommandCall
    let definition: CommandDefinition
    /// The rules that hold now: a cursor ends where others hold at a later batch.
    let ruleGuard: RuleAccessPolicy?
    /// Whether the place of the documents was checked already.
    let isChecked: Bool

    /// The fields that the gateway sets itself: of its session, its API version, and the time that is left.
    private static let ownFields: Set<String> = [
        "$db", "$clusterTime", "$readPreference", "lsid", "txnNumber", "autocommit",
        "startTransaction", "stmtId", "stmtIds", "apiVersion", "apiStrict",
        "apiDeprecationErrors", "maxTimeMS", CommandCall.clientField,
    ]
    /// The largest size of the statements in one command.
    private static let bytesMax = 12 * 1024 * 1024

    /// Runs the command and returns its outcome.
    ///
    /// - Throws: the upstream's errors.
    func run() throws -> CommandOutcome {
        try checkPlace()
        if call.mayWrite(definition) { backend.catalog.forgetAll() }
        if definition.traits.contains(.retryable) {
            return .reply(try write(definition.statements))
        }
        guard link.session == nil, definition.cursor == .opens, !call.flag("explain") else {
            return try open(link)
        }
        return try open(link.atNewPlace(for: call))
    }

    /// Refuses what only an administrator of everything may do: the databases of the upstream and of
    /// the gateways hold credentials.
    ///
    /// - Throws: 13 (Unauthorized).
    func checkPlace() throws(CommandFailure) {
        guard call.server.settings.requiresSignIn,
            call.connection.state.withLock({ $0.user })?.isBoundless != true, !isChecked
        else { return }
        let own: Set<Name> = ["admin", "config", "local", Name(GatewayDatabase.name)]
        let isOwn = own.contains(Name(call.database)) && definition.statements != .mixed
        let targets = call.sequences["nsInfo"] ?? []
        let named = ([call.body] + targets).contains {
            $0.extendedJSON().contains(GatewayDatabase.name)
        }
        guard !isOwn, !named else {
            throw CommandFailure(
                13, "not authorized on \(call.database) to execute command \(definition.name)")
        }
    }

    /// Sends the command, and opens a cursor here for one of the upstream.
    ///
    /// - Throws: 365 when the user has too many open cursors, and the upstream's errors.
    private func open(_ link: UpstreamLink) throws -> CommandOutcome {
        var reply = try send(try body, link)
        let batch = UpstreamBatch(reply)
        guard batch.cursor != 0, var cursor = reply["cursor"]?.documentValue,
            let name = cursor["ns"]?.stringValue
        else { return .reply(reply) }
        let parts = name.splitAtFirstDot
        let namespace = Namespace(parts?.head ?? call.database, parts?.tail ?? "")
        let options = CursorOptions(
            noTimeout: call.flag("noCursorTimeout"), isTailable: call.flag("tailable"),
            awaitsData: call.flag("awaitData"), hasTimeLimit: call.deadline != nil)
        let cursors = backend.services.cursors
        let id: Int64
        if self.link.session == nil {
            let source = ForwardedSource(
                UpstreamCursor(id: batch.cursor, namespace: namespace, link: link))
            id = try cursors.addForwarded(
                checked(source, namespace), namespace, call.session, of: call.cursorOwner, options)
        } else {
            id = cursors.add(
                checked(try rest(of: batch, namespace, link), namespace), namespace, call.session,
                of: call.cursorOwner, options)
        }
        cursor.set("id", to: .int64(id))
        reply.set("cursor", to: .document(cursor))
        return .reply(reply)
    }

    private func checked(
        _ source: any CursorSource, _ namespace: Namespace
    ) -> RuleCheckedSource {
        RuleCheckedSource(source, backend.services.rules, ruleGuard, call, namespace)
    }

    /// Reads a cursor to its end: the session of a transaction has other commands to run.
    private func rest(
        of batch: UpstreamBatch, _ namespace: Namespace, _ link: UpstreamLink
    ) throws -> ResultSource {
        var result = ResultCollector(backend.services.spools, of: call.cursorOwner)
        var batch = batch
        while batch.cursor != 0 {
            batch = UpstreamBatch(
                try link.run(
                    batch.more(namespace), on: namespace.database, repeatedAs: .read, for: call))
            for document in batch.documents { try result.append(document) }
        }
        return try result.source()
    }

    /// Whether expressions of the command are evaluated with it; those of a view are kept upstream.
    private var readsRoles: Bool {
        definition.gateway == .upstreamOrStream || definition.underRules == .writes
            || definition.underRules == .reads(.documents)
    }

    private var roles: OwnRoles { OwnRoles(of: call.connection.state.withLock { $0.user }) }

    private var body: BSONDocument {
        get throws {
            let body = sentBody
            return readsRoles ? try roles.command(body) : body
        }
    }

    private var sentBody: BSONDocument {
        var body = BSONDocument()
        for (name, value) in call.body where !Self.ownFields.contains(name) {
            if name == "readConcern" || name == "writeConcern", link.session != nil { continue }
            if name == "readConcern", let level = value.documentValue?["level"] {
                body.append(name, ["level": level])
            } else if name != "readConcern" {
                body.append(name, value)
            }
        }
        for (field, documents) in call.sequences {
            body.append(field, .array(BSONArray(documents.map(BSONValue.document))))
        }
        return body
    }

    private func send(_ body: BSONDocument, _ link: UpstreamLink) throws -> BSONDocument {
        let kind: UpstreamCommandKind = definition.traits.contains(.retryable) ? .write : .read
        let reply = try link.run(body, on: call.database, repeatedAs: kind, for: call)
        var shown = BSONDocument()
        for (name, value) in reply where name != "$clusterTime" && name != "operationTime" {
            shown.append(name, value)
        }
        return shown
    }

    /// Carries a writing command out: together with its reply if it is retryable and succeeds as a
    /// whole.
    ///
    /// - Parameter list: its statements; `nil` for a command without.
    private func write(_ list: StatementList?) throws -> BSONDocument {
        guard let retryable = link.retryable else { return try carryOut(list, link) }
        if !call.allowsMajority { retryable.giveUp() }
        var answer: BSONDocument?
        var idle = IdleRuns()
        while retryable.isPossible {
            try backend.begin(&idle, at: [], link, call, definition)
            let hasLanded = try retryable.land(link) { link in
                let reply = try carryOut(list, link)
                // The upstream undoes a transaction in which a statement failed.
                let hasErrors =
                    reply["writeErrors"] != nil || reply["nErrors"]?.wholeNumber ?? 0 > 0
                if hasErrors { retryable.giveUp() } else { answer = reply }
                return hasErrors ? nil : reply
            }
            if hasLanded, let answer { return answer }
        }
        try retryable.leaveTransaction(link)
        return try carryOut(list, link)
    }

    /// Sends the command, in several parts if its statements are too large for one.
    private func carryOut(_ list: StatementList?, _ link: UpstreamLink) throws -> BSONDocument {
        var body = try body
        if link.session != nil { body.removeValue(forKey: "writeConcern") }
        guard let list else { return try send(body, link) }
        let inBody = body[list.field]?.arrayValue?.compactMap(\.documentValue)
        let all = try inBody ?? call.documents(list.field)
        guard all.reduce(0, { $0 + $1.byteCount }) > Self.bytesMax else {
            return try send(body, link)
        }
        var tally = StatementTally(list)
        var start = 0
        while start < all.count {
            var bytes = 0
            var end = start
            repeat {
                bytes += all[end].byteCount
                end += 1
            } while end < all.count && bytes + all[end].byteCount <= Self.bytesMax
            var part = body
            part.removeValue(forKey: list.field)
            part.append(list.field, .array(BSONArray(all[start..<end].map(BSONValue.document))))
            tally.add(try send(part, link), at: Array(start..<end))
            if tally.hasErrors, call["ordered"]?.isTrue ?? true { break }
            start = end
        }
        return tally.reply
    }
}

extension CommandCall {
    /// Whether the command may write; those with results may write them into a collection.
    func mayWrite(_ definition: CommandDefinition) -> Bool {
        definition.traits.contains(.writes)
            || definition.traits.contains(.writesResults) && writesResults
    }
}

/// A cursor of the upstream, which holds no connection.
final class UpstreamCursor: Sendable {
    private let id: Int64
    private let namespace: Namespace
    private let link: UpstreamLink
    private let isOpen = Locked(true)

    /// - Parameter link: the link at the cursor's place.
    init(id: Int64, namespace: Namespace, link: UpstreamLink) {
        self.id = id
        self.namespace = namespace
        self.link = link
    }

    /// Closes a forgotten cursor at the upstream, without waiting for it.
    deinit {
        let wasOpen = isOpen.withLock { $0 }
        if wasOpen { link.close(id, namespace) }
    }

    /// Reads the next batch; the cursor closes with the last one.
    func next(_ limits: BatchLimits, for call: CommandCall) throws -> UpstreamBatch {
        let size = limits.documentsMax == .max ? nil : limits.documentsMax
        var command: BSONDocument = [
            "getMore": .int64(id), "collection": .string(namespace.collection),
        ]
        if let size { command.append("batchSize", .int64(Int64(size))) }
        let batch: UpstreamBatch
        do {
            batch = UpstreamBatch(
                try link.run(command, on: namespace.database, repeatedAs: .read, for: call))
        } catch {
            // Its reader gets no more of it; the upstream may still have it.
            link.close(id, namespace)
            end()
            throw error
        }
        if batch.cursor == 0 { end() }
        return batch
    }

    private func end() { isOpen.withLock { $0 = false } }
}

/// The source of a cursor that the upstream holds.
struct ForwardedSource: CursorSource {
    var isForwarded: Bool { true }
    private let cursor: UpstreamCursor

    init(_ cursor: UpstreamCursor) { self.cursor = cursor }

    mutating func next(_ limits: BatchLimits, _ call: CommandCall) throws -> CursorBatch {
        let batch = try cursor.next(limits, for: call)
        return CursorBatch(
            documents: batch.documents, isAtEnd: batch.cursor == 0, resumeToken: batch.token)
    }
}
