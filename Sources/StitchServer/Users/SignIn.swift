internal import BSONStore

/// The sign-in of a client, with a password, a token or the secret of an anonymous user.
struct SignIn: Sendable {
    /// The users.
    let users: UserDirectory
    /// Made-up answers for unknown users.
    let decoys: DecoyCredentials

    private var server: ServerContext { users.server }

    /// Returns the time from which an attempt to sign in is checked.
    func opening(
        _ request: BSONDocument, _ database: String, _ connection: ClientConnection
    ) -> ContinuousClock.Instant {
        let name: String?
        do { name = try SaslPayload.user(request) } catch { name = nil }
        guard let name else { return server.signIns.now }
        return server.signIns.opening(
            SignInDelay.key(user: name, database: database, peer: connection.peer))
    }

    /// Starts a sign-in.
    ///
    /// - Parameter began: the end of the delay that the client has waited; not in the future.
    /// - Throws: 18 (AuthenticationFailed), 334 (MechanismUnavailable).
    func start(
        _ request: BSONDocument, database: String, _ connection: ClientConnection,
        began: ContinuousClock.Instant
    ) throws -> BSONDocument {
        let name = request["mechanism"]?.stringValue ?? ""
        if name == "PLAIN", let settings = server.settings.tokens {
            try TokenSignIn(users: users, settings: settings)
                .signIn(request["payload"], database, connection)
            return SaslPayload.reply([], isDone: true, like: request["payload"])
        }
        if name == AnonymousSignIn.mechanism, server.settings.allowsAnonymous {
            try AnonymousSignIn(server: server).signIn(request["payload"], connection)
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
            let found = try users.user(name, database)?.credentials.first {
                $0.mechanism == mechanism
            }
            return try found
                ?? ScramCredential(
                    mechanism, standingFor: User.id(name, database), secret: decoys.secret
                )
        }
        connection.state.withLock { $0.conversation = conversation }
        return SaslPayload.reply(conversation.firstReply, isDone: false)
    }

    /// Continues a sign-in.
    ///
    /// - Throws: 18 (AuthenticationFailed), 17 (ProtocolError).
    func proceed(
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
            let found = try users.user(conversation.user, conversation.database)
            guard var user = found?.signedIn(isUnderRules: server.settings.rules != nil) else {
                throw ScramConversation.failed
            }
            user.generation = generation
            connection.become(user)
            server.settings.log.write(.info, "connection \(connection.id) signed in")
        } else {
            connection.state.withLock { [conversation] in $0.conversation = conversation }
        }
        return SaslPayload.reply(reply, isDone: conversation.isDone)
    }
}
