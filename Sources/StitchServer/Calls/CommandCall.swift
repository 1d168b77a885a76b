internal import BSONStore
internal import StitchWire

/// One running command: its arguments, its connection and its time limit.
struct CommandCall: Sendable {
    /// The arguments that every command accepts.
    ///
    /// Source: the server's `generic_argument.idl`, and the drivers' own fields.
    static let generalArguments: Set<String> = [
        "$audit", "$client", "$clusterTime", "$configServerState", "$configTime", "$db",
        "$oplogQueryData", "$queryOptions", "$readPreference", "$replData", "$topologyTime",
        "apiDeprecationErrors", "apiStrict", "apiVersion", "autocommit", "backpressure",
        "client", "clientOperationKey", "comment", "compression", "coordinator", "databaseVersion",
        "helloOk", "lsid", "maxTimeMS", "maxTimeMSOpOnly", "mayBypassWriteBlocking",
        "readConcern", "requestGossipRoutingCache", "rawData", "shardVersion",
        "serialization_context", "startOrContinueTransaction", "startTransaction", "stmtId",
        "tracking_info", "txnNumber", "txnRetryCounter", "writeConcern", "$tenant",
    ]

    /// The command: the part of its row in the table that its arguments are checked by.
    let signature: CommandSignature
    /// The name as the client wrote it, which may be an alias.
    let givenName: String
    /// The body with all arguments.
    let body: BSONDocument
    /// The document sequences of the message, by the field they belong to.
    let sequences: [String: [BSONDocument]]
    /// The database in `$db`.
    let database: String
    /// The connection that sent the command.
    let connection: ClientConnection
    /// The state that all connections share.
    let server: ServerContext
    /// The limit of its work: the deadline, and whether it was interrupted.
    let budget: WorkBudget
    /// The logical session of the command.
    let session: BSONDocument?
    /// The transaction or retryable write that the command is part of.
    let transaction: TransactionRequest?
    /// The snapshot to read; `nil` for the newest state.
    let snapshot: SnapshotRequest?
    /// The time of the command for expressions.
    var time = CommandTime(clusterTime: nil)
    /// Whether the client accepts a stream of replies to one request (`exhaustAllowed`).
    let allowsExhaust: Bool

    /// Returns the call of a command that is nested in this one, or that replaces it.
    func standing(
        for body: BSONDocument, as signature: CommandSignature, givenName: String
    ) -> CommandCall {
        CommandCall(
            signature: signature, givenName: givenName, body: body, sequences: sequences,
            database: database,
            connection: connection, server: server, budget: budget, session: session,
            transaction: transaction, snapshot: snapshot, time: time,
            allowsExhaust: false)
    }

    /// The canonical name from the command table.
    var name: String { signature.name }

    /// The value of the first field, which is the command's name.
    var target: BSONValue { body.first { _ in true }?.value ?? .null }

    /// The key of the session in tables; empty without one.
    var sessionKey: [UInt8] { session.map(SessionTable.key) ?? [] }

    /// Calls a body with each session that a command names, as a session of the calling user.
    ///
    /// - Throws: the errors of the body, and the end of the command's time.
    func forEachOwnSession(
        _ named: BSONArray?, _ body: (BSONDocument) throws -> Void
    ) throws {
        let user = connection.state.withLock { $0.user }
        let userID = try user.map { try SessionTable.userID($0) }
        for value in named ?? [] {
            try WorkBudget.spend()
            guard let session = value.documentValue, SessionTable.hasID(session) else { continue }
            try body(SessionTable.own(session, ofID: userID))
        }
    }

    /// The time by which the command must finish; `nil` without a limit.
    var deadline: ContinuousClock.Instant? { budget.deadline }

    /// Checks that the command has time left and was not interrupted.
    ///
    /// - Throws: 50 (MaxTimeMSExpired), 11600 (InterruptedAtShutdown), 11601 (Interrupted).
    func checkTime() throws(CommandFailure) {
        if let fault = budget.fault { throw CommandFailure(fault) }
    }

    /// Does the same as ``checkTime()``, inside a store transaction.
    func checkBudget() throws(StoreError) {
        if let fault = budget.fault { throw fault }
    }

    /// The limit for scripts of a command that has no time limit.
    private static let scriptSecondsMax = 60

    /// Runs a part of the command, on any thread, and stops scripts at the time limit.
    func boundingScripts<R>(_ body: () throws -> R) throws -> R {
        let limit = deadline ?? .now + .seconds(Self.scriptSecondsMax)
        return try ScriptLimits.$deadline.withValue(limit) {
            try seeingRoles { try budget.running(body) }
        }
    }

    /// Runs a part of the command, on any thread, whose expressions see the user's roles
    /// (`$$USER_ROLES`) and the command's time (`$$NOW`, `$$CLUSTER_TIME`).
    func seeingRoles<R>(_ body: () throws -> R) rethrows -> R {
        let roles = connection.state.withLock { $0.user?.roles ?? [] }
        let value = BSONArray(roles.map(\.variable))
        return try CommandTime.$current.withValue(time) {
            try ExpressionRoles.$current.withValue(value, operation: body)
        }
    }

    /// Runs a body as ``boundingScripts(_:)`` does, and discards its result or error if the time ran
    /// out meanwhile: an interrupted loop may have led to anything.
    func discardingLateResult<R>(_ body: () throws -> R) throws -> R {
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
