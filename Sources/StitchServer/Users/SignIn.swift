internal import BSONStore

/// The sign-in of a client, with a password, a token or the secret of an anonymous user.
struct SignIn: Sendable {
    /// The users.
    let users: UserDirectory
    /// Made-up answers for unknown users.
    let decoys: DecoyCredentials
    /// The steps of looking up a credential.
    var steps = CredentialSteps()

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
    /// - Parameters:
    ///   - began: the end of the delay that the client has waited; not in the future.
    ///   - mayWait: whether the client may wait for the keys of an identity provider.
    /// - Throws: 18 (AuthenticationFailed), 334 (MechanismUnavailable); `AwaitedKeys` when the
    ///   client has to wait for keys.
    func start(
        _ request: BSONDocument, database: String, _ connection: ClientConnection,
        began: ContinuousClock.Instant, mayWait: Bool = false
    ) throws -> BSONDocument {
        let name = request["mechanism"]?.stringValue ?? ""
        if name == "PLAIN", !server.tokenKeys.isEmpty {
            try TokenSignIn(users: users, providers: server.tokenKeys)
                .signIn(request["payload"], database, connection, mayWait: mayWait)
            return SaslPayload.reply([], isDone: true, like: request["payload"])
        }
        if name == AnonymousSignIn.mechanism, server.settings.allowsAnonymous {
            try AnonymousSignIn(users: users).signIn(request["payload"], connection)
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
            try credential(mechanism, of: User.id(name, database))
        }
        connection.state.withLock { $0.conversation = conversation }
        return SaslPayload.reply(conversation.firstReply, isDone: false)
    }

    /// Returns the credential of a user, or a made-up one.
    ///
    /// The steps are the same whether the user exists and has the mechanism or not, so that the time
    /// does not tell.
    func credential(_ mechanism: ScramMechanism, of id: String) throws -> ScramCredential {
        let stored = try steps.read(users.records, id)
        let user = steps.decode(stored ?? decoys.document)
        let standIn = try steps.derive(mechanism, id, decoys.secret)
        // A disabled user fails like one with another password.
        let own =
            user?.isDisabled == true
            ? nil : user?.credentials.first { $0.mechanism == mechanism }
        return stored == nil ? standIn : own ?? standIn
    }

    /// Returns the mechanisms that a user has, or that one of the name could have.
    func mechanisms(_ name: String, _ database: String) throws -> [ScramMechanism] {
        let standIn = try decoys.mechanisms(name, database, users)
        let stored = try steps.read(users.records, User.id(name, database))
        let user = steps.decode(stored ?? decoys.document)
        return stored == nil ? standIn : user?.credentials.map(\.mechanism) ?? standIn
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
            // A proof of a password that was changed since the exchange began is worthless.
            guard let found, found.credentials.contains(conversation.credential) else {
                throw ScramConversation.failed
            }
            var user = found.signedIn(isUnderRules: server.settings.rules != nil)
            user.generation = generation
            connection.become(user)
            server.settings.log.write(.info, "\(ConnectedClient(connection).line) signed in")
        } else {
            connection.state.withLock { [conversation] in $0.conversation = conversation }
        }
        return SaslPayload.reply(reply, isDone: conversation.isDone)
    }
}

/// The steps of looking up a credential, which a test counts.
struct CredentialSteps: Sendable {
    /// Reads the stored document of a user.
    var read: @Sendable (any UserRecords, String) throws -> BSONDocument? = { try $0.user($1) }
    /// Decodes a stored document.
    var decode: @Sendable (BSONDocument) -> User? = { User($0) }
    /// Derives a made-up credential of a user.
    var derive: @Sendable (ScramMechanism, String, [UInt8]) throws -> ScramCredential = {
        try ScramCredential($0, standingFor: $1, secret: $2)
    }
}
