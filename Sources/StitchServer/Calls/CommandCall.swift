internal import BSONStore
internal import StitchWire

/// Is one command under way: what the client asked for, from where, and until when.
struct CommandCall: Sendable {
    /// Arguments that every command takes.
    ///
    /// Source: the server's `generic_argument.idl`, and what drivers send.
    static let generalArguments: Set<String> = [
        "$audit", "$client", "$clusterTime", "$configServerState", "$configTime", "$db",
        "$oplogQueryData", "$queryOptions", "$readPreference", "$replData", "$topologyTime",
        "apiDeprecationErrors", "apiStrict", "apiVersion", "autocommit", "backpressure",
        "client", "clientOperationKey", "comment", "compression", "coordinator", "databaseVersion",
        "helloOk", "lsid", "maxTimeMS", "maxTimeMSOpOnly", "mayBypassWriteBlocking",
        "readConcern", "requestGossipRoutingCache", "rawData", "shardVersion",
        "serialization_context", "startOrContinueTransaction", "startTransaction",
        "tracking_info", "txnNumber", "txnRetryCounter", "writeConcern", "$tenant",
    ]

    /// The command's name, as the table has it.
    let name: String
    /// The name as the client wrote it.
    let givenName: String
    /// The command.
    let body: BSONDocument
    /// Documents that came beside it, by the field to which they belong.
    let sequences: [String: [BSONDocument]]
    /// The database that it is for.
    let database: String
    /// Where it came from.
    let connection: ClientConnection
    /// What all connections have in common.
    let server: ServerContext
    /// Bounds its work: until when, and whether somebody ended it.
    let budget: WorkBudget
    /// The logical session it belongs to.
    let session: BSONDocument?
    /// The transaction or retryable write that it says it is.
    let transaction: TransactionRequest?
    /// The state of the store that it reads, where that is not the newest one.
    let snapshot: SnapshotRequest?
    /// Whether the client can take answers that it did not ask for.
    let allowsExhaust: Bool
    /// What it asks for, read; it is there once the command is authorised.
    var parsed = ParsedCommand.plain

    /// The call of a command that stands in this one, or that this one stands for.
    func standing(for body: BSONDocument, as name: String, givenName: String) -> CommandCall {
        CommandCall(
            name: name, givenName: givenName, body: body, sequences: sequences, database: database,
            connection: connection, server: server, budget: budget, session: session,
            transaction: transaction, snapshot: snapshot, allowsExhaust: false)
    }

    /// The value behind the command's name.
    var target: BSONValue { body.first { _ in true }?.value ?? .null }

    /// The bytes that stand for the session.
    var sessionKey: [UInt8] { session.map(SessionTable.key) ?? [] }

    /// Sessions that a command names, as those of who sent it.
    func ownSessions(_ named: BSONArray?) throws(CommandFailure) -> [BSONDocument] {
        let user = connection.state.withLock { $0.user }
        return try SessionTable.sessions(named).map { (session) throws(CommandFailure) in
            try SessionTable.own(session, of: user)
        }
    }

    /// When it must be done; `nil` without a limit.
    var deadline: ContinuousClock.Instant? { budget.deadline }

    /// Stops a command whose time is over, or which somebody ended.
    ///
    /// - Throws: 50 (MaxTimeMSExpired), 11600 (InterruptedAtShutdown), 11601 (Interrupted).
    func checkTime() throws(CommandFailure) {
        if let fault = budget.fault { throw CommandFailure(fault) }
    }

    /// As ``checkTime()``, in a body of the store.
    func checkBudget() throws(StoreError) {
        if let fault = budget.fault { throw fault }
    }

    /// The scripts of a command without a time limit run so long at most.
    private static let scriptSecondsMax = 60

    /// Runs a part of the command, on any thread, which stops when its time is over.
    func boundingScripts<R>(_ body: () throws -> R) throws -> R {
        let limit = deadline ?? .now + .seconds(Self.scriptSecondsMax)
        return try ScriptLimits.$deadline.withValue(limit) { try budget.running(body) }
    }

    /// As ``boundingScripts(_:)``; what came of it once the time was over is not believed, be it an
    /// answer or an error: a loop that was cut short may have led to anything.
    func believing<R>(_ body: () throws -> R) throws -> R {
        let result: R
        do {
            result = try boundingScripts(body)
        } catch {
            try checkTime()
            throw error
        }
        try checkTime()
        return result
    }

    static var timeIsOver: CommandFailure {
        CommandFailure(50, "operation exceeded time limit")
    }
}
