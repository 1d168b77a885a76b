internal import BSONStore

/// Is who has signed in on a connection.
struct SignedInUser: Sendable, Hashable {
    let name: String
    let database: String
    var roles: [Role]
    /// The count of changes of users when the roles were read.
    var generation = 0

    /// Whether one of the roles gives an access to a database.
    func has(_ access: Role.Access, on database: String) -> Bool {
        roles.contains { $0.gives(access, on: database) }
    }
}
