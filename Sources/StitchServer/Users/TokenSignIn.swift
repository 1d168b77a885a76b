internal import BSONStore

/// The sign-in with a token of an identity provider.
struct TokenSignIn: Sendable {
    /// The users, who may have roles of their own.
    let users: UserDirectory
    /// The providers and their keys.
    let providers: [ProviderKeys]

    private var server: ServerContext { users.server }

    /// Signs in with a token as the password of `PLAIN`; needs an encrypted connection.
    ///
    /// - Parameter mayWait: whether the client may wait for the provider's keys.
    /// - Throws: 18 (AuthenticationFailed), without the reason; `AwaitedKeys` when the provider is
    ///   being asked for the token's key.
    func signIn(
        _ payload: BSONValue?, _ database: String, _ connection: ClientConnection, mayWait: Bool
    ) throws {
        guard connection.isSecure else {
            throw CommandFailure(334, "PLAIN needs an encrypted connection (TLS)")
        }
        let parts = try SaslPayload.bytes(payload).split(
            separator: 0, maxSplits: 2, omittingEmptySubsequences: false)
        let name = parts.count == 3 ? String(validating: parts[1], as: UTF8.self) ?? "" : ""
        do {
            guard database == SignedInUser.externalDatabase, parts.count == 3,
                parts[0].isEmpty || parts[0] == parts[1],
                let text = String(validating: parts[2], as: UTF8.self),
                let token = WebToken(text), let issuer = token.issuer,
                let keys = providers.first(where: {
                    $0.provider.issuer.hasSameBytes(as: issuer)
                }),
                token.isMeant(keys.provider, now: BSONDatetime.now.seconds),
                token.claims["sub"]?.stringValue.hasSameBytes(as: name) == true, !name.isEmpty
            else { throw ScramConversation.failed }
            guard token.isSigned(by: try keys.keys(for: token, mayWait: mayWait)) else {
                throw ScramConversation.failed
            }
            try become(name, token, keys.provider, connection)
            server.signIns.succeeded(
                SignInDelay.key(user: name, database: database, peer: connection.peer))
            server.settings.log.write(
                .info, "\(ConnectedClient(connection).line) signed in with a token")
        } catch let error as AwaitedKeys {
            throw error
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

    /// Makes the user of a valid token the one of a connection.
    private func become(
        _ name: String, _ token: WebToken, _ provider: TokenProvider,
        _ connection: ClientConnection
    ) throws {
        let generation = server.userGeneration.withLock { $0 }
        let given = provider.rolesClaim.map { token.roles($0) } ?? []
        var user = SignedInUser(
            name: Name(name), database: Name(provider.userDatabase),
            roles: try users.roles(of: name, provider.userDatabase, token: given))
        user.expiry = token.expiry
        user.tokenRoles = given
        user.claims = token.claims
        user.mappedData = provider.customData(token.claims)
        // Where tokens give no roles, rules decide as they do for users who signed up.
        user.isGovernedByRules = provider.rolesClaim == nil && server.settings.rules != nil
        user.generation = generation
        connection.become(user)
    }
}

extension BSONDatetime {
    /// The time in seconds since 1970.
    var seconds: Double { Double(milliseconds) / 1_000 }
}
