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

    /// Returns why the secret of an anonymous user signs in no longer; `nil` while it does.
    func ending(of stored: User?) throws -> CommandFailure? {
        try AnonymousSignIn.ending(of: stored) { try records.hasAccount($0) }
    }

    /// Whether the server has no users yet.
    func hasNoUsers() throws -> Bool {
        try records.isEmpty()
    }

    /// Returns the user signed in on a connection, with the current roles.
    ///
    /// - Throws: 391 (ReauthenticationRequired) when the sign-in has expired or was ended.
    func signedIn(_ connection: ClientConnection) throws -> SignedInUser? {
        let (user, isEnded) = connection.state.withLock { ($0.user, $0.isSignInEnded) }
        guard let known = user else { return nil }
        guard !isEnded else { throw CommandFailure(391, "The sign-in was ended; sign in again") }
        let generation = server.userGeneration.withLock { $0 }
        if let expiry = known.expiry,
            expiry + WebToken.leeway < BSONDatetime.now.seconds
        {
            throw CommandFailure(391, "The token of the sign-in has expired; sign in again")
        }
        guard known.generation != generation else { return known }
        let stored = try self.user(known.name.text, known.database.text)
        if let stored, let origin = known.origin, !stored.accepts(origin) {
            throw CommandFailure(391, "The sign-in was ended; sign in again")
        }
        var current = stored?.signedIn(isUnderRules: server.settings.rules != nil)
        if known.origin != nil { current?.origin = known.origin }
        if known.isAnonymous {
            if let reason = try ending(of: stored) {
                throw CommandFailure(391, reason.message)
            }
            current = known
        } else if known.expiry != nil {
            current = known
            current?.roles = try roles(
                of: known.name.text, known.database.text, token: known.tokenRoles)
        }
        current?.generation = generation
        connection.state.withLock { [current] state in
            // Another user may have signed in meanwhile, or the user have signed out.
            guard let present = state.user, present.storedID.hasSameBytes(as: known.storedID) else {
                return
            }
            state.user = current
            // A command that ends the other sign-ins may have added its mark.
            if let origin = present.origin { state.user?.origin = origin }
        }
        return current
    }

    /// Returns the roles of a token and those of the stored user of the same name and database.
    ///
    /// Users of named providers are not stored, since `createUser` refuses their databases.
    func roles(of name: String, _ database: String, token roles: [Role]) throws -> [Role] {
        let own = try user(name, database)?.roles ?? []
        return roles + own.filter { !roles.contains($0) }
    }
}
