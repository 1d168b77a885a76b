internal import BSONStore

/// The sign-in with a token of another service.
struct TokenSignIn: Sendable {
    /// The users, who may have roles of their own.
    let users: UserDirectory
    let settings: TokenSettings

    private var server: ServerContext { users.server }

    /// Signs in with a token as the password of `PLAIN`; needs an encrypted connection.
    ///
    /// - Throws: 18 (AuthenticationFailed), without the reason.
    func signIn(
        _ payload: BSONValue?, _ database: String, _ connection: ClientConnection
    ) throws {
        guard connection.isSecure else {
            throw CommandFailure(334, "PLAIN needs an encrypted connection (TLS)")
        }
        let parts = try SaslPayload.bytes(payload).split(
            separator: 0, maxSplits: 2, omittingEmptySubsequences: false)
        let name = parts.count == 3 ? String(validating: parts[1], as: UTF8.self) ?? "" : ""
        do {
            guard database == "$external", parts.count == 3,
                parts[0].isEmpty || parts[0] == parts[1],
                let text = String(validating: parts[2], as: UTF8.self),
                let token = WebToken(text),
                token.isMeant(settings, now: BSONDatetime.now.seconds),
                token.claims["sub"]?.stringValue.hasSameBytes(as: name) == true, !name.isEmpty,
                token.isSigned(by: try WebKey.keys(inFile: settings.keysFile))
            else { throw ScramConversation.failed }
            let generation = server.userGeneration.withLock { $0 }
            let given = token.roles(settings.rolesClaim)
            var user = SignedInUser(
                name: Name(name), database: Name(database),
                roles: try users.roles(of: name, token: given))
            user.expiry = token.expiry
            user.tokenRoles = given
            user.claims = token.claims
            user.generation = generation
            connection.become(user)
            server.signIns.succeeded(
                SignInDelay.key(user: name, database: database, peer: connection.peer))
            server.settings.log.write(
                .info, "\(ConnectedClient(connection).line) signed in with a token")
        } catch {
            server.settings.log.write(
                .warning,
                "a token was refused on connection \(connection.id) from "
                    + connection.peer)
            let key = SignInDelay.key(user: name, database: database, peer: connection.peer)
            throw DelayedFailure(
                fault: ScramConversation.failed, until: server.signIns.failed(key))
        }
    }

}

extension BSONDatetime {
    /// The time in seconds since 1970.
    var seconds: Double { Double(milliseconds) / 1_000 }
}
