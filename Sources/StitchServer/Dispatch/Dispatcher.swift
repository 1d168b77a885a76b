internal import BSONStore
internal import StitchWire

/// The path from a request to its reply: find the command, check it, run it, complete the reply.
///
/// Its steps from the outside to the inside:
///
/// 1. `respond` counts the command once it has finished (`noting`).
/// 2. `outcome(of:on:)` finds the command and checks its arguments.
/// 3. `answer` has the command in the list of running ones until it no longer waits (`ending`).
/// 4. `runAndComplete` makes errors replies, and `finish` and `complete` add what every reply has.
/// 5. `run` has `authorize` parse the command and check the user's rights.
/// 6. The backend runs it.
///
/// Each time that a waiting command goes on, `noting`, `ending` and `finish` are taken again, and the
/// rights are checked again (`reauthorize`).
struct Dispatcher: Sendable {
    /// The state that all connections share.
    let server: ServerContext
    /// The part that runs commands.
    let backend: any CommandBackend

    /// Creates a dispatcher for a backend.
    init(server: ServerContext, backend: any CommandBackend) {
        self.server = server
        self.backend = backend
    }

    /// Runs a command, which may block; an error is a reply, too.
    func respond(
        to request: WireRequest, on connection: ClientConnection
    ) -> CommandOutcome {
        let start = ContinuousClock.now
        connection.state.withLock { $0.lastUsed = start }
        return noting(outcome(of: request, on: connection), request, connection, since: start)
    }

    /// Counts a command once it has finished, with the time that it worked or waited for a thread.
    ///
    /// - Parameter earlier: the time that it worked before it waited; `nil` if it has not waited.
    ///   What is answered after a wait is not what `getLastError` tells of.
    private func noting(
        _ outcome: CommandOutcome, _ request: WireRequest, _ connection: ClientConnection,
        since start: ContinuousClock.Instant, after earlier: Duration? = nil
    ) -> CommandOutcome {
        if case .blocking(let step) = outcome {
            return .blocking { noting(step(), request, connection, since: start, after: earlier) }
        }
        let took = (earlier ?? .zero) + (ContinuousClock.now - start)
        if case .waiting(let wait) = outcome {
            return .waiting(
                CommandWait(
                    deadline: wait.deadline, subscribe: wait.subscribe,
                    again: { isTimeUp in
                        let start = ContinuousClock.now
                        return noting(
                            try wait.again(isTimeUp), request, connection, since: start,
                            after: took)
                    }, abandon: wait.abandon))
        }
        let name = request.body.keys.first ?? ""
        server.metrics.note(CommandTable.find(name)?.name, outcome, took)
        if server.settings.consolePort != nil, CommandTable.find(name) != nil {
            server.slowCommands.note(request, took: took, connection)
        }
        if case .reply(let reply) = outcome, earlier == nil, LastCommandResult.isTold(of: name) {
            connection.state.withLock { $0.lastOutcome = LastCommandResult(reply) }
        }
        if took > ServerLog.slow, CommandTable.find(name) != nil {
            let client = ConnectedClient(connection).line
            server.settings.log.write(.warning, "slow command: \(name) took \(took), \(client)")
        }
        return outcome
    }

    private func outcome(
        of request: WireRequest, on connection: ClientConnection
    ) -> CommandOutcome {
        guard let givenName = request.body.keys.first else {
            return .reply(
                CommandFailure(.failedToParse, "Message contains no command").reply)
        }
        let fault = injected(givenName, request, connection)
        if server.alwaysTimesOut(request.body) {
            return .reply(complete(CommandCall.timeIsOver.reply, nil))
        }
        if let fault {
            if fault["closeConnection"]?.isTrue == true { return .close }
            if let refusal = refusal(fault, request.body) {
                return .reply(complete(refusal, nil))
            }
        }
        do {
            let definition = try self.definition(of: givenName, request)
            if request.body["help"]?.isTrue == true {
                return .reply(complete(["help": .string(definition.help)], nil))
            }
            let call = try self.call(definition, givenName, request, connection)
            connection.state.withLock { $0.note(call) }
            let isWanted = request.wantsReply
            guard call.waitsToWrite else {
                return answer(definition, call, fault, isWanted)
            }
            return .blocking { answer(definition, call, fault, isWanted) }
        } catch {
            return .reply(complete(CommandFailure(error).reply, nil))
        }
    }

    /// Runs a parsed command; an error is a reply, too.
    private func answer(
        _ definition: CommandDefinition, _ call: CommandCall, _ fault: BSONDocument?,
        _ isWanted: Bool
    ) -> CommandOutcome {
        let number = server.operations.begin(
            call, endsWithClient: isWanted && !definition.traits.contains(.endsTransaction))
        let outcome = runAndComplete(definition, call, fault)
        return ending(number, call.budget, with: outcome)
    }

    /// Removes a command from the running ones once it no longer waits.
    private func ending(
        _ number: Int32, _ budget: WorkBudget, with outcome: CommandOutcome
    ) -> CommandOutcome {
        guard case .waiting(let wait) = outcome else {
            server.operations.end(number)
            return outcome
        }
        return .waiting(
            CommandWait(
                deadline: wait.deadline,
                subscribe: { wake in
                    let ignore = server.operations.onStop(number, budget, wake)
                    let unsubscribe = wait.subscribe(wake)
                    return {
                        ignore()
                        unsubscribe()
                    }
                },
                again: { isTimeUp in
                    do {
                        return ending(number, budget, with: try wait.again(isTimeUp))
                    } catch {
                        server.operations.end(number)
                        throw error
                    }
                },
                abandon: {
                    server.operations.end(number)
                    wait.abandon()
                }))
    }

    private func runAndComplete(
        _ definition: CommandDefinition, _ call: CommandCall, _ fault: BSONDocument?
    ) -> CommandOutcome {
        do {
            let outcome = try call.budget.running { try run(definition, call) }
            return finish(outcome, definition, call, fault)
        } catch is CloseConnectionRequest {
            return .close
        } catch {
            var reply = CommandFailure(error).reply
            // MongoDB reports an unmet write concern even if nothing was written.
            if let missed = WriteConcernCheck.error(call, definition) {
                reply.append("writeConcernError", missed)
            }
            return .reply(complete(reply, call))
        }
    }

    private func definition(
        of name: String, _ request: WireRequest
    ) throws(CommandFailure) -> CommandDefinition {
        if case .query(let collection) = request.form {
            guard collection.hasByteSuffix(".$cmd"),
                ["hello", "ismaster", "isMaster"].contains(name)
            else {
                throw CommandFailure(
                    352,
                    "Unsupported OP_QUERY command: \(name). The client driver may require an "
                        + "upgrade. For more details see "
                        + "https://dochub.mongodb.org/core/legacy-opcode-removal")
            }
        }
        guard let definition = CommandTable.find(name),
            !definition.traits.contains(.testOnly) || server.settings.allowsTestCommands
        else {
            throw CommandFailure(59, "no such command: '\(name)'")
        }
        return definition
    }

    private func call(
        _ definition: CommandDefinition, _ givenName: String, _ request: WireRequest,
        _ connection: ClientConnection
    ) throws -> CommandCall {
        let body = request.body
        guard let database = body["$db"] else {
            throw CommandFailure(40571, "OP_MSG requests require a $db argument")
        }
        guard let database = database.stringValue else {
            throw CommandFailure(
                .typeMismatch,
                "BSON field '$db' is the wrong type '\(database.type.alias)', expected type "
                    + "'string'")
        }
        try DatabaseName.check(database)
        // Before any argument is read: from here on each field has one value.
        try DuplicateFieldCheck.check(
            body, named: definition.name, request.sequences.map { ($0.field, $0.documents) })
        if definition.traits.contains(.adminOnly), database != "admin" {
            throw CommandFailure(
                13, "\(definition.name) may only be run against the admin database.")
        }
        let arguments = try GenericArguments(body, definition)
        let user = connection.state.withLock { $0.user }
        var sequences: [String: [BSONDocument]] = [:]
        for sequence in request.sequences { sequences[sequence.field] = sequence.documents }
        try definition.signature.schema.check(
            body, named: definition.name, given: request.sequences.map(\.field), isCommand: true)
        return CommandCall(
            signature: definition.signature, givenName: givenName, body: body, sequences: sequences,
            database: database, connection: connection, server: server,
            budget: WorkBudget(
                deadline: arguments.deadline ?? usualDeadline(definition, body, connection),
                memory: server.memory, within: .current),
            session: try arguments.session.map { try SessionTable.own($0, of: user) },
            transaction: arguments.transaction,
            snapshot: try SnapshotRequest(body, definition.signature, server.clock),
            time: CommandTime(clusterTime: server.clock.now),
            allowsExhaust: request.allowsExhaust)
    }

    /// The default time limit for commands of users under rules.
    private static let ruledSecondsMax = 60

    /// Returns the time by which a command without a limit of its own must finish; `nil` for none.
    func usualDeadline(
        _ definition: CommandDefinition, _ body: BSONDocument, _ connection: ClientConnection
    ) -> ContinuousClock.Instant? {
        // Not whether rules were found for the user: the first command after a sign-in looks for them.
        let user = connection.state.withLock { $0.user }
        guard server.settings.rules != nil, user?.isBoundless == false else { return nil }
        // The time that a getMore waits does not count as work.
        let wait =
            definition.cursor == .continues ? body["maxTimeMS"]?.wholeNumber ?? 1_000 : 0
        return ContinuousClock.now + .seconds(Self.ruledSecondsMax)
            + .milliseconds(min(max(0, wait), 600_000))
    }

    private func run(_ definition: CommandDefinition, _ call: CommandCall) throws -> CommandOutcome
    {
        let command = try authorize(definition, call)
        try server.member.check(call)
        // Before the transaction is entered, so that a refusal does not end it.
        if call.transaction?.isTransaction == true, !definition.traits.contains(.endsTransaction) {
            try TransactionScope.check(
                definition.signature, on: try Self.namespaces(definition, call))
        }
        return try call.seeingRoles {
            // It needs no backend, and so no session, transaction or entry in the profile. Its parsed
            // form, which would answer the same, exists since authorization reads that of each command.
            if case .server(let answer) = definition.answering { return try answer(call) }
            let outcome = try backend.run(command, definition, call)
            return authorizing(outcome, definition, call, command)
        }
    }

    /// Returns the collections that a command of a transaction names.
    private static func namespaces(
        _ definition: CommandDefinition, _ call: CommandCall
    ) throws(CommandFailure) -> [Namespace] {
        if definition.statements == .mixed { return try BulkWriteCommand.namespaces(call) }
        let name = call.target.stringValue ?? call.string("collection") ?? ""
        return [Namespace(call.database, name)]
    }

    /// Makes a command that waits check the user's rights again when it continues.
    ///
    /// Meanwhile the user may have been dropped, or have lost a role.
    private func authorizing(
        _ outcome: CommandOutcome, _ definition: CommandDefinition, _ call: CommandCall,
        _ command: ParsedCommand
    ) -> CommandOutcome {
        guard case .waiting(let wait) = outcome else { return outcome }
        return .waiting(
            CommandWait(
                deadline: wait.deadline, subscribe: wait.subscribe,
                again: { isTimeUp in
                    do {
                        try reauthorize(definition, call, command)
                    } catch {
                        wait.abandon()
                        throw error
                    }
                    let outcome = try call.seeingRoles { try wait.again(isTimeUp) }
                    return authorizing(outcome, definition, call, command)
                }, abandon: wait.abandon))
    }

    /// The codes of errors that carry `topologyVersion`: the server is not the primary.
    ///
    /// A driver that already knows that version keeps its view of the server. Shutdown errors carry
    /// no version.
    private static let topologyCodes: Set<Int64> = [189, 10058, 10107, 11602, 13435, 13436]

    /// Completes a reply, now or once a waiting command finishes.
    private func finish(
        _ outcome: CommandOutcome, _ definition: CommandDefinition, _ call: CommandCall,
        _ fault: BSONDocument?
    ) -> CommandOutcome {
        switch outcome {
        case .reply(var document):
            if let error = fault?["writeConcernError"] ?? WriteConcernCheck.error(call, definition)
            {
                document.append("writeConcernError", error)
                if let labels = labels(fault, of: error, call.body) {
                    document.append("errorLabels", labels)
                }
            }
            return .reply(complete(document, call))
        case .waiting(let wait):
            return .waiting(
                CommandWait(
                    deadline: wait.deadline, subscribe: wait.subscribe,
                    again: { isTimeUp in
                        // The interruption itself woke the command.
                        if let end = call.budget.fault {
                            wait.abandon()
                            return .reply(complete(CommandFailure(end).reply, call))
                        }
                        do {
                            let outcome = try call.budget.running { try wait.again(isTimeUp) }
                            return finish(outcome, definition, call, fault)
                        } catch {
                            return .reply(complete(CommandFailure(error).reply, call))
                        }
                    }, abandon: wait.abandon))
        case .blocking, .close: return outcome
        }
    }

    /// The maximum size of a reply in bytes: what fits in a message beside the general fields.
    static let replyBytesMax = WireLimits().messageBytesMax - 16 * 1024

    /// Adds the fields that every reply has, or returns the error of a reply that is too large.
    private func complete(_ reply: BSONDocument, _ call: CommandCall?) -> BSONDocument {
        var reply = reply
        if reply.byteCount > Self.replyBytesMax {
            reply = CommandFailure(ExpressionLimits.tooLarge(reply.byteCount)).reply
        }
        if reply["ok"] == nil { reply.append("ok", 1.0) }
        if let code = reply["code"]?.int64Value, Self.topologyCodes.contains(code) {
            reply.append("topologyVersion", HelloCommand.topologyVersion(server))
        }
        let time = server.clock.now
        reply.append(
            "$clusterTime",
            [
                "clusterTime": .timestamp(time),
                "signature": [
                    "hash": .binary(BSONBinary(Array(repeating: 0, count: 20))),
                    "keyId": .int64(0),
                ],
            ])
        reply.append("operationTime", .timestamp(time))
        return reply
    }
}
