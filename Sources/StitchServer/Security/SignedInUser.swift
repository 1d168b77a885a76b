internal import BSONStore

/// The user who has signed in on a connection.
struct SignedInUser: Sendable, Hashable {
    let name: String
    let database: String
    var roles: [Role]
    /// The end of the sign-in, in seconds since 1970; `nil` for the life of the connection.
    var expiry: Double?
    /// The roles from a token, in addition to those stored by the server.
    var tokenRoles: [Role] = []
    /// The claims of the token.
    var claims: BSONDocument?
    /// The generation of user changes at which the roles were read.
    var generation = 0

    /// Whether one of the roles grants an access to a database.
    func has(_ access: Role.Access, on database: String) -> Bool {
        roles.contains { $0.gives(access, on: database) }
    }
}
