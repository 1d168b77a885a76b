internal import BSONStore

/// Is who has signed in on a connection.
struct SignedInUser: Sendable, Hashable {
    let name: String
    let database: String
    var roles: [Role]
    /// When the sign-in ends, in seconds since 1970; `nil` with the connection.
    var expiry: Double?
    /// The roles that a token gave, which hold with those that the server keeps.
    var tokenRoles: [Role] = []
    /// What a token says of its bearer.
    var claims: BSONDocument?
    /// The count of changes of users when the roles were read.
    var generation = 0

    /// Whether one of the roles gives an access to a database.
    func has(_ access: Role.Access, on database: String) -> Bool {
        roles.contains { $0.gives(access, on: database) }
    }
}
