internal import BSONStore
internal import StitchRules

extension StoreBackend {
    /// The rules through which a command goes; `nil` where there are none, or the user holds the
    /// role `root`.
    ///
    /// The user's custom data are read again when something was committed since, by whatever process.
    ///
    /// - Throws: what the store says.
    func ruleGuard(_ call: CommandCall) throws -> RuleAccessPolicy? {
        guard let book = server.settings.rules else { return nil }
        let connection = call.connection
        guard let user = connection.state.withLock({ $0.user }) else {
            // Nobody is there to sign in yet: the first user is being made.
            guard call.name != "createUser" else { return nil }
            throw CommandFailure(13, "Command \(call.name) requires authentication")
        }
        guard !user.isBoundless else { return nil }
        let edition = book.edition
        let position = edition.rules.customData == nil ? 0 : try newestChange
        let known = connection.state.withLock { $0.rules }.flatMap {
            $0.edition == edition.number ? $0 : nil
        }
        if let known, known.user == user, known.position == position { return known.ruleGuard }
        let ruleUser = try self.ruleUser(user, edition.rules)
        let ruleGuard =
            if let known, known.ruleGuard.user == ruleUser {
                known.ruleGuard
            } else {
                RuleAccessPolicy(edition.rules, ruleUser) { [server] denial in
                    server.denials.note(denial, of: ruleUser.id, server.settings.log)
                }
            }
        connection.state.withLock {
            $0.rules = ConnectionRules(
                ruleGuard: ruleGuard, user: user, edition: edition.number, position: position)
        }
        return ruleGuard
    }

    /// A number that grows with each commit.
    private var newestChange: Int64 {
        get throws {
            // In memory there is no other process, and a transaction may hold the one connection.
            guard store.location != .inMemory else { return Int64(commits.generation) }
            return try store.changePosition
        }
    }

    /// The user as rules know it.
    ///
    /// - Throws: 13 (Unauthorized) for a name that could be taken for somebody else's.
    private func ruleUser(_ user: SignedInUser, _ rules: RuleSet) throws -> RuleUser {
        guard !User.isAmbiguous(user.name, user.database) else {
            throw CommandFailure(
                13,
                "Users whose names begin with \"\(User.idMark)\" or hold a null character may "
                    + "do nothing under rules: the name could be taken for the id of a user of "
                    + "another database")
        }
        var ruleUser = RuleUser(id: user.ruleID)
        ruleUser.identities = [
            ["id": .string(user.ruleID), "provider_type": .string(user.provider)]
        ]
        if let claims = user.claims {
            ruleUser.data = claims
        } else if let stored = try self.user(user.name, user.database)?.customData?.documentValue {
            ruleUser.data = stored
        }
        guard let source = rules.customData else { return ruleUser }
        let filter = try Filter([source.userIDField: ["$eq": .string(user.ruleID)]])
        ruleUser.customData = try store.read { transaction in
            try transaction.find(source.namespace, filter: filter, options: FindOptions(limit: 1))
                .first
        }
        return ruleUser
    }
}

extension SignedInUser {
    /// Whether rules do not bind the user, who administrates everything.
    var isBoundless: Bool { roles.contains { $0.name == "root" && $0.database == "admin" } }

    /// The id by which rules know the user: the name, with a mark and the database before it where
    /// the user is of another database than those of the whole server.
    ///
    /// A database's name has no dot, and no name of `admin` or `$external` begins with the mark, so
    /// no two users of different databases have one id; those two count as one.
    var ruleID: String {
        User.isOfServer(database) ? name : "\(User.idMark)\(database).\(name)"
    }

    fileprivate var provider: String {
        database == "$external" ? "custom-token" : "local-userpass"
    }
}
