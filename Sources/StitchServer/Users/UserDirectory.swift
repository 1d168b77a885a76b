internal import BSONStore

/// The users, and the user signed in on each connection.
struct UserDirectory: Sendable {
    /// The place of the users.
    let records: any UserRecords
    /// The state that all connections share.
    let server: ServerContext

    /// Returns a user; `nil` when none has the name.
    func user(_ name: String, _ database: String) throws -> User? {
        try records.user(User.id(name, database)).flatMap(User.init)
    }

    /// Whether the server has no users yet.
    func hasNoUsers() throws -> Bool {
        try records.isEmpty()
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
        var current = try user(known.name.text, known.database.text)?
            .signedIn(isUnderRules: server.settings.rules != nil)
        if known.isAnonymous {
            // No store has this user, so nothing can have changed.
            current = known
        } else if known.expiry != nil {
            current = known
            current?.roles = try roles(of: known.name.text, token: known.tokenRoles)
        }
        current?.generation = generation
        connection.state.withLock { $0.user = current }
        return current
    }

    /// Returns the roles of a token and those of the user of the same name on `$external`.
    func roles(of name: String, token roles: [Role]) throws -> [Role] {
        let own = try user(name, "$external")?.roles ?? []
        return roles + own.filter { !roles.contains($0) }
    }
}
