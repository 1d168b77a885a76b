internal import BSONStore

/// A role of a user on a database.
///
/// Source: MongoDB manual, "Built-In Roles".
struct Role: Sendable, Hashable {
    /// The access that a command needs.
    enum Access: Sendable {
        /// Any signed-in user.
        case signedIn
        case read
        case write
        /// Creating and dropping collections and indexes.
        case collections
        /// Changing collection options and dropping databases.
        case databaseAdministration
        case userAdministration
        case monitoring
        case clusterAdministration
    }

    let name: String
    let database: String

    /// Whether both roles have the same names, by their bytes.
    static func == (left: Role, right: Role) -> Bool {
        left.name.hasSameBytes(as: right.name) && left.database.hasSameBytes(as: right.database)
    }

    /// The built-in roles that exist on every database.
    static let ofDatabases: Set<String> = [
        "read", "readWrite", "dbAdmin", "dbOwner", "userAdmin",
    ]
    /// The built-in roles that exist on the database `admin` only.
    static let ofAdmin: Set<String> = [
        "readAnyDatabase", "readWriteAnyDatabase", "dbAdminAnyDatabase", "userAdminAnyDatabase",
        "clusterMonitor", "clusterManager", "hostManager", "clusterAdmin", "backup", "restore",
        "root",
    ]

    /// Whether MongoDB has such a built-in role.
    var isKnown: Bool {
        Self.ofDatabases.contains(name) || (database == "admin" && Self.ofAdmin.contains(name))
    }

    /// Whether the role grants an access to a database.
    func gives(_ access: Access, on database: String) -> Bool {
        let (own, everywhere) = Self.names(access)
        if self.database == "admin", everywhere.contains(name) || name == "root" { return true }
        return self.database.hasSameBytes(as: database) && own.contains(name)
    }

    private static func names(_ access: Access) -> (own: Set<String>, everywhere: Set<String>) {
        switch access {
        case .signedIn: (ofDatabases, ofAdmin)
        case .read:
            (
                ["read", "readWrite", "dbOwner"],
                ["readAnyDatabase", "readWriteAnyDatabase", "backup"]
            )
        case .write: (["readWrite", "dbOwner"], ["readWriteAnyDatabase", "restore"])
        case .collections:
            (
                ["readWrite", "dbAdmin", "dbOwner"],
                ["readWriteAnyDatabase", "dbAdminAnyDatabase", "restore"]
            )
        case .databaseAdministration: (["dbAdmin", "dbOwner"], ["dbAdminAnyDatabase"])
        case .userAdministration: (["userAdmin", "dbOwner"], ["userAdminAnyDatabase"])
        case .monitoring: ([], ["clusterMonitor", "clusterAdmin"])
        case .clusterAdministration: ([], ["clusterManager", "hostManager", "clusterAdmin"])
        }
    }

    /// Creates a role; `nil` when there is no role of the name.
    init?(known name: String, on database: String) {
        self.init(name: name, database: database)
        guard isKnown else { return nil }
    }

    /// Creates a role without checking its name.
    init(name: String, database: String) {
        self.name = name
        self.database = database
    }

    /// Reads roles from a command: names, or documents with `role` and `db`.
    ///
    /// - Throws: 2 (BadValue), 31 (RoleNotFound), and the end of the command's time.
    static func roles(_ values: BSONArray, on database: String) throws -> [Role] {
        var roles: [Role] = []
        var seen: Set<Role> = []
        for value in values {
            try WorkBudget.spend()
            let role = try named(value, on: database)
            try DatabaseName.check(role.database)
            guard role.isKnown else {
                throw CommandFailure(31, "Could not find role: \(role.name)@\(role.database)")
            }
            if seen.insert(role).inserted { roles.append(role) }
        }
        return roles
    }

    /// Reads a role from a command: a name, or a document with `role` and `db`.
    ///
    /// - Throws: 2 (BadValue).
    static func named(_ value: BSONValue, on database: String) throws(CommandFailure) -> Role {
        if let name = value.stringValue { return Role(name: name, database: database) }
        guard let name = value.documentValue?["role"]?.stringValue,
            let database = value.documentValue?["db"]?.stringValue
        else {
            throw CommandFailure(
                .badValue,
                "Role names must be either strings or objects with \"role\" and \"db\" fields")
        }
        return Role(name: name, database: database)
    }

    /// Returns the built-in roles that exist on a database, by name.
    static func all(of database: String) -> [Role] {
        let names = database.hasSameBytes(as: "admin") ? ofDatabases.union(ofAdmin) : ofDatabases
        return names.sorted().map { Role(name: $0, database: database) }
    }

    /// The role in the form of the variable `$$USER_ROLES`.
    var variable: BSONValue {
        ["_id": .string("\(database).\(name)"), "role": .string(name), "db": .string(database)]
    }

    /// The role in the form of replies.
    var value: BSONValue { ["role": .string(name), "db": .string(database)] }
}
