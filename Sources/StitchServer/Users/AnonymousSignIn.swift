internal import BSONStore

/// The sign-in of a device without an account, with a secret that the device made and keeps.
///
/// The server stores nothing until the user registers or deletes the account: the user's name is derived
/// from the secret, so the same device is the same user after a restart, and the name does not reveal
/// the secret.
struct AnonymousSignIn: Sendable {
    /// The name of the SASL mechanism, whose only message is the secret.
    static let mechanism = "STITCHSYNC-ANONYMOUS"
    /// The database of these users.
    static let database = User.anonymousDatabase
    /// The length of a secret, in bytes.
    static let secretBytes = 16...256

    /// The error for the secret of a user who registered since; only its holder learns of it.
    static let isRegistered = CommandFailure(
        18, "the anonymous account is registered now; sign in with its name and password")

    /// The error for the secret of a user who deleted the account; only its holder learns of it.
    static let isDeleted = CommandFailure(
        18, "the anonymous account was deleted; make a new secret to begin again")

    let users: UserDirectory

    private var server: ServerContext { users.server }

    /// Returns why a secret signs in no longer; `nil` while it does.
    ///
    /// A registration counts only while its account exists: a gateway stores the account after the
    /// mark of the anonymous user, and may end in between.
    ///
    /// - Parameters:
    ///   - stored: the stored user; `nil` for an anonymous user of whom nothing is stored.
    ///   - hasAccount: returns whether the account with an ``User/accountID`` exists.
    static func ending(
        of stored: User?, hasAccount: (BSONValue) throws -> Bool
    ) rethrows -> CommandFailure? {
        guard let stored else { return nil }
        if stored.isDeleted { return isDeleted }
        guard stored.registeredAs != nil else { return nil }
        // Marks of earlier versions do not tell the account.
        guard let account = stored.registeredAccountID else { return isRegistered }
        return try hasAccount(account) ? isRegistered : nil
    }

    /// Returns the name of the user with a secret.
    static func name(ofSecret secret: [UInt8]) throws(CommandFailure) -> String {
        // The prefix makes the name another one than in a service that hashes the same secret.
        try DigestAlgorithm.sha256.sum(Array("stitchsync anonymous\0".utf8) + secret).hexadecimal
    }

    /// Signs in with a secret; over a network it needs an encrypted connection.
    ///
    /// - Throws: 334 (MechanismUnavailable) without encryption; a `DelayedFailure` with 18
    ///   (AuthenticationFailed) for a secret that is too short or too long; 18 for a secret whose
    ///   user has registered or deleted the account.
    func signIn(_ payload: BSONValue?, _ connection: ClientConnection) throws {
        guard connection.isSecure || connection.isLoopback else {
            throw CommandFailure(334, "\(Self.mechanism) needs an encrypted connection (TLS)")
        }
        let secret = try SaslPayload.bytes(payload)
        guard Self.secretBytes.contains(secret.count) else {
            server.settings.log.write(
                .warning, "an anonymous sign-in failed on connection \(connection.id)")
            let key = SignInDelay.key(user: "", database: Self.database, peer: connection.peer)
            throw DelayedFailure(
                fault: ScramConversation.failed, until: server.signIns.failed(key))
        }
        let generation = server.userGeneration.withLock { $0 }
        let name = try Self.name(ofSecret: secret)
        if let reason = try users.ending(of: try users.user(name, Self.database)) {
            server.settings.log.write(
                .warning,
                "an anonymous sign-in was refused on connection \(connection.id): the account was "
                    + "registered or deleted")
            throw reason
        }
        var user = SignedInUser(
            name: Name(name), database: Name(Self.database), roles: [])
        user.isGovernedByRules = true
        user.generation = generation
        connection.become(user)
        server.settings.log.write(
            .info, "\(ConnectedClient(connection).line) signed in anonymously")
    }
}

extension SignedInUser {
    /// Whether the user is a device without an account.
    var isAnonymous: Bool { database.text == AnonymousSignIn.database }
}
