internal import BSONStore
internal import StitchRules

/// The rules that apply to the users of a server.
struct UserRules: Sendable {
    /// The rules that one command was given at its start.
    private struct Decision {
        let ruleGuard: RuleAccessPolicy?
    }

    let users: UserDirectory
    private var decision: Decision?

    private var server: ServerContext { users.server }

    init(users: UserDirectory) { self.users = users }

    /// Returns rules that are the given ones for every command; `nil` for none.
    func deciding(_ ruleGuard: RuleAccessPolicy?) -> UserRules {
        var rules = self
        rules.decision = Decision(ruleGuard: ruleGuard)
        return rules
    }

    /// The rules for the later commands of a cursor, which may have changed by then.
    var lasting: UserRules { UserRules(users: users) }

    /// Returns the rules that apply to a command; `nil` without rules, and for users with the role
    /// `root`.
    ///
    /// The connection keeps the rules for its next command; the user's custom data are read again after
    /// every commit, by any process.
    ///
    /// - Throws: 13 where rules exist and no user has signed in; errors of the store or upstream that
    ///   holds the users.
    func ruleGuard(_ call: CommandCall) throws -> RuleAccessPolicy? {
        if let decision { return decision.ruleGuard }
        guard let book = server.settings.rules else { return nil }
        guard !call.signature.traits.contains(.outsideRules) else { return nil }
        let connection = call.connection
        guard let user = connection.state.withLock({ $0.user }) else {
            // The command creates the first user, so no user has signed in yet.
            guard !call.signature.traits.contains(.createsFirstUser) else { return nil }
            throw CommandFailure(13, "Command \(call.name) requires authentication")
        }
        guard !user.isBoundless else { return nil }
        let edition = book.edition
        let position = edition.rules.customData == nil ? 0 : try users.records.newestChange
        let known = connection.state.withLock { $0.rules }.flatMap {
            $0.edition == edition.number ? $0 : nil
        }
        if let known, let position, known.user == user, known.position == position {
            return known.ruleGuard
        }
        let ruleUser = try self.ruleUser(user, edition.rules)
        let ruleGuard =
            if let known, known.ruleGuard.user == ruleUser {
                known.ruleGuard
            } else {
                RuleAccessPolicy(edition.rules, ruleUser) { [server] denial in
                    server.deniedWrites.note(denial, of: ruleUser.id, server.settings.log)
                }
            }
        connection.state.withLock {
            $0.rules = ConnectionRules(
                ruleGuard: ruleGuard, user: user, edition: edition.number, position: position)
        }
        return ruleGuard
    }

    /// Returns the user in the form that rules read, without the data of the collection of custom
    /// data.
    ///
    /// - Parameter data: the claims of the user's token, or the stored data.
    static func ruleUser(_ user: SignedInUser, data: BSONDocument?) -> RuleUser {
        RuleUser(
            id: user.ruleID, type: user.isAnonymous ? "anonymous" : "normal", data: data ?? [:],
            identities: [
                ["id": .string(user.ruleID), "provider_type": .string(user.provider)]
            ])
    }

    /// Returns the user in the form that rules read.
    ///
    /// - Throws: 13 (Unauthorized) for a name that could be confused with another user's.
    func ruleUser(_ user: SignedInUser, _ rules: RuleSet) throws -> RuleUser {
        guard !User.isAmbiguous(user.name.text, user.database.text) else {
            throw CommandFailure(
                13,
                "Users whose names begin with \"\(User.idMark)\" or hold a null character may "
                    + "do nothing under rules: the name could be taken for the id of a user of "
                    + "another database")
        }
        let data =
            try user.claims
            ?? users.user(user.name.text, user.database.text)?.customData?.documentValue
        var ruleUser = Self.ruleUser(user, data: data)
        if let source = rules.customData {
            ruleUser.customData = try users.records.customData(source, of: user.ruleID)
        }
        if let mapped = user.mappedData {
            var customData = ruleUser.customData ?? [:]
            for (field, value) in mapped { customData.set(field, to: value) }
            ruleUser.customData = customData
        }
        return ruleUser
    }
}

extension SignedInUser {
    /// Whether the user administrates everything, so no rules apply.
    var isBoundless: Bool { roles.contains { $0.name == "root" && $0.database == "admin" } }

    /// The user's id in rules.
    ///
    /// A user who was anonymous before keeps that id, and the next user of a removed user's name has an
    /// id of its own.
    var ruleID: String { storedRuleID ?? User.usualRuleID(name.text, database.text) }

    fileprivate var provider: String {
        if isAnonymous { return "anon-user" }
        return isOfToken ? "custom-token" : "local-userpass"
    }
}
