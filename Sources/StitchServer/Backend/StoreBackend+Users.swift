internal import BSONStore

extension StoreBackend {
    /// Returns a user; `nil` when none has the name.
    func user(_ name: String, _ database: String) throws -> User? {
        try store.read { transaction in
            try transaction.get(User.namespace, id: .string(User.id(name, database)))
        }.flatMap(User.init)
    }

    /// Whether the server has no users yet.
    func hasNoUsers() throws -> Bool {
        try store.read { try $0.count(User.namespace, filter: .all) } == 0
    }

    /// Returns the user signed in on a connection, with the current roles.
    func signedIn(_ connection: ClientConnection) throws -> SignedInUser? {
        guard let known = connection.state.withLock({ $0.user }) else { return nil }
        let generation = server.userGeneration.withLock { $0 }
        if let expiry = known.expiry,
            expiry + WebToken.leeway < BSONDatetime.now.seconds
        {
            throw CommandFailure(391, "The token of the sign-in has expired; sign in again")
        }
        guard known.generation != generation else { return known }
        var current = try user(known.name, known.database)?.signedIn
        if known.expiry != nil {
            current = known
            current?.roles = try roles(of: known.name, token: known.tokenRoles)
        }
        current?.generation = generation
        connection.state.withLock { $0.user = current }
        return current
    }

    /// Changes users; signed-in users have their new roles with their next command.
    func changeUsers<R: Sendable>(
        _ call: CommandCall, _ body: @escaping @Sendable (WriteTransaction) throws -> R
    ) throws -> R {
        let result = try write(call, body)
        server.userGeneration.withLock { $0 += 1 }
        return result
    }

    /// Checks whether the user may run a command.
    ///
    /// While the server has no users, a client on the same machine may create the first one.
    ///
    /// - Returns: the call with its parsed arguments.
    /// - Throws: 13 (Unauthorized).
    func authorize(_ rule: CommandDefinition, _ call: CommandCall) throws -> CommandCall {
        var parsed = call
        guard !rule.traits.contains(.unauthenticated) else { return call }
        guard server.settings.requiresSignIn else {
            parsed.parsed = ParsedCommand(rule, call, self)
            return parsed
        }
        let user = try signedIn(call.connection)
        if user == nil, rule.name == "createUser", call.database == "admin",
            call.connection.isLoopback, try hasNoUsers()
        {
            parsed.parsed = ParsedCommand(rule, call, self)
            return parsed
        }
        // Clients without access do not learn the command's syntax from errors.
        let signedIn = try Authorization.known(user, rule)
        if try ruleGuard(call) != nil { try RestrictedCommands.check(rule, call) }
        parsed.parsed = ParsedCommand(rule, call, self)
        try Authorization.check(rule, parsed, signedIn)
        return parsed
    }

    /// Starts a sign-in.
    ///
    /// - Parameter began: the end of the delay that the client has waited; not in the future.
    /// - Throws: 18 (AuthenticationFailed), 334 (MechanismUnavailable).
    func startSignIn(
        _ request: BSONDocument, database: String, _ connection: ClientConnection,
        began: ContinuousClock.Instant
    ) throws -> BSONDocument {
        let name = request["mechanism"]?.stringValue ?? ""
        if name == "PLAIN", let settings = server.settings.tokens {
            try signIn(withToken: request["payload"], settings, database, connection)
            return SaslPayload.reply([], isDone: true, like: request["payload"])
        }
        guard let mechanism = ScramMechanism(rawValue: name) else {
            throw CommandFailure(
                334,
                "Received authentication for mechanism \(name) which is unknown or not enabled")
        }
        let payload = try SaslPayload.bytes(request["payload"])
        let options = request["options"]?.documentValue
        let conversation = try ScramConversation(
            payload, database: database, began: began,
            skipsEmptyExchange: options?["skipEmptyExchange"]?.isTrue ?? false
        ) { name in
            let found = try user(name, database)?.credentials.first {
                $0.mechanism == mechanism
            }
            return try found
                ?? ScramCredential(
                    mechanism, standingFor: User.id(name, database), secret: decoyCredentials.secret
                )
        }
        connection.state.withLock { $0.conversation = conversation }
        return SaslPayload.reply(conversation.firstReply, isDone: false)
    }

    /// Continues a sign-in.
    ///
    /// - Throws: 18 (AuthenticationFailed), 17 (ProtocolError).
    func continueSignIn(
        _ request: BSONDocument, _ connection: ClientConnection
    ) throws -> BSONDocument {
        guard var conversation = connection.state.withLock({ $0.conversation }) else {
            throw CommandFailure(17, "No SASL session state found")
        }
        connection.state.withLock { $0.conversation = nil }
        let key = SignInDelay.key(
            user: conversation.user, database: conversation.database, peer: connection.peer)
        let reply: [UInt8]
        if conversation.isProven {
            reply = try conversation.answer(SaslPayload.bytes(request["payload"]))
        } else {
            do {
                reply = try server.signIns.judge(key, began: conversation.began) {
                    try conversation.answer(SaslPayload.bytes(request["payload"]))
                }
            } catch {
                server.settings.log.write(
                    .warning,
                    "a sign-in failed on connection \(connection.id) from \(connection.peer)")
                throw error
            }
        }
        if conversation.isDone, conversation.isProven {
            // Read before the user, so that a later change is noticed at the next command.
            let generation = server.userGeneration.withLock { $0 }
            guard var user = try user(conversation.user, conversation.database)?.signedIn
            else { throw ScramConversation.failed }
            user.generation = generation
            connection.state.withLock { [user] in $0.user = user }
            server.settings.log.write(.info, "connection \(connection.id) signed in")
        } else {
            connection.state.withLock { [conversation] in $0.conversation = conversation }
        }
        return SaslPayload.reply(reply, isDone: conversation.isDone)
    }
}

/// The conversion between SASL messages and commands.
enum SaslPayload {
    /// Returns the user name in a first message.
    static func user(_ request: BSONDocument) throws(CommandFailure) -> String? {
        let payload = try bytes(request["payload"])
        guard request["mechanism"] == "PLAIN" else {
            return try ScramConversation.user(payload)
        }
        let parts = payload.split(separator: 0, maxSplits: 2, omittingEmptySubsequences: false)
        return parts.count == 3 ? String(validating: parts[1], as: UTF8.self) : nil
    }

    static func bytes(_ value: BSONValue?) throws(CommandFailure) -> [UInt8] {
        switch value {
        case .binary(let payload): return payload.bytes
        case .string(let text): return ScramCredential.bytes(text) ?? []
        default:
            throw CommandFailure(
                .typeMismatch, "the payload of a SASL message must be binary")
        }
    }

    /// - Parameter given: the received payload; clients that send a string, as libmongoc does for
    ///   `PLAIN`, expect a string.
    static func reply(
        _ payload: [UInt8], isDone: Bool, like given: BSONValue? = nil
    ) -> BSONDocument {
        let isText = given?.stringValue != nil
        return [
            "conversationId": 1, "done": .bool(isDone),
            "payload": isText
                ? .string(ScramCredential.text(payload)) : .binary(BSONBinary(payload)),
        ]
    }
}
