internal import BSONStore

/// The user who has signed in on a connection.
struct SignedInUser: Sendable, Hashable {
    let name: Name
    let database: Name
    var roles: [Role]
    /// The end of the sign-in, in seconds since 1970; `nil` for the life of the connection.
    var expiry: Double?
    /// The roles from a token, in addition to those stored by the server.
    var tokenRoles: [Role] = []
    /// The claims of the token.
    var claims: BSONDocument?
    /// The custom data that the claims are mapped to, in addition to stored ones.
    var mappedData: BSONDocument?
    /// Whether the rules alone decide what the user reads and writes, without any roles.
    var isGovernedByRules = false
    /// The stored id in rules; `nil` for the usual id.
    var storedRuleID: String?
    /// The account and the marks that keep the sign-in valid; `nil` for users who are not stored.
    var origin: SignInOrigin?
    /// The generation of user changes at which the roles were read.
    var generation = 0

    /// The database of users of tokens; of a named provider's users, a slash and its name follow.
    static let externalDatabase = "$external"

    /// Whether an identity provider has vouched for the user.
    var isOfToken: Bool {
        database.text.hasSameBytes(as: Self.externalDatabase)
            || database.text.hasBytePrefix(Self.externalDatabase + "/")
    }

    /// The databases of the server itself, which need roles.
    private static let ownDatabases: Set<Name> = ["", "admin", "config", "local"]

    /// Whether the user has an access to a database: by a role, or because rules alone decide.
    func has(_ access: Role.Access, on database: String) -> Bool {
        if hasRole(access, on: database) { return true }
        guard isGovernedByRules, !Self.ownDatabases.contains(Name(database)) else { return false }
        switch access {
        case .read, .write: return true
        case .signedIn, .collections, .databaseAdministration, .userAdministration, .monitoring,
            .clusterAdministration:
            return false
        }
    }

    /// Whether the user has an administrator's role on the whole server.
    var isOperator: Bool {
        [Role.Access.clusterAdministration, .monitoring, .userAdministration].contains {
            hasRole($0, on: "admin")
        }
    }

    /// Whether one of the roles grants an access to a database.
    func hasRole(_ access: Role.Access, on database: String) -> Bool {
        roles.contains { $0.gives(access, on: database) }
    }
}
