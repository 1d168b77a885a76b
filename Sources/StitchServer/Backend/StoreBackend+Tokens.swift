internal import BSONStore

extension StoreBackend {
    /// Signs in with a token as the password of `PLAIN`; needs an encrypted connection.
    ///
    /// - Throws: 18 (AuthenticationFailed), without the reason.
    func signIn(
        withToken payload: BSONValue?, _ settings: TokenSettings, _ database: String,
        _ connection: ClientConnection
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
                token.claims["sub"]?.stringValue == name, !name.isEmpty,
                token.isSigned(by: try WebKey.keys(inFile: settings.keysFile))
            else { throw ScramConversation.failed }
            let generation = server.userGeneration.withLock { $0 }
            let given = token.roles(settings.rolesClaim)
            var user = SignedInUser(
                name: name, database: database, roles: try roles(of: name, token: given))
            user.expiry = token.expiry
            user.tokenRoles = given
            user.claims = token.claims
            user.generation = generation
            connection.state.withLock { [user] in $0.user = user }
            server.signIns.succeeded(
                SignInDelay.key(user: name, database: database, peer: connection.peer))
            server.settings.log.write(.info, "connection \(connection.id) signed in with a token")
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

    /// Returns the roles of a token and those of the user of the same name on `$external`.
    func roles(of name: String, token roles: [Role]) throws -> [Role] {
        let own = try user(name, "$external")?.roles ?? []
        return roles + own.filter { !roles.contains($0) }
    }

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
}

extension BSONDatetime {
    /// The time in seconds since 1970.
    var seconds: Double { Double(milliseconds) / 1_000 }
}
