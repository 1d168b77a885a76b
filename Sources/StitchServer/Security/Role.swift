internal import BSONStore

/// Is a role of a user on a database.
///
/// Source: MongoDB manual, "Built-In Roles".
struct Role: Sendable, Hashable {
    /// What a command needs.
    enum Access: Sendable {
        /// To have signed in.
        case signedIn
        case read
        case write
        /// To make and drop collections and indexes.
        case collections
        /// To change how collections are kept, and to drop databases.
        case databaseAdministration
        case userAdministration
        case monitoring
        case clusterAdministration
    }

    let name: String
    let database: String

    /// The roles that there are on every database.
    static let ofDatabases: Set<String> = [
        "read", "readWrite", "dbAdmin", "dbOwner", "userAdmin",
    ]
    /// The roles that there are on the database `admin` only.
    static let ofAdmin: Set<String> = [
        "readAnyDatabase", "readWriteAnyDatabase", "dbAdminAnyDatabase", "userAdminAnyDatabase",
        "clusterMonitor", "clusterManager", "hostManager", "clusterAdmin", "backup", "restore",
        "root",
    ]

    /// Whether there is such a role.
    var isKnown: Bool {
        Self.ofDatabases.contains(name) || (database == "admin" && Self.ofAdmin.contains(name))
    }

    /// Whether the role gives an access to a database.
    func gives(_ access: Access, on database: String) -> Bool {
        let (own, everywhere) = Self.names(access)
        if self.database == "admin", everywhere.contains(name) || name == "root" { return true }
        return self.database == database && own.contains(name)
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

    /// Takes a name of a role; `nil` when there is no such role.
    init?(known name: String, on database: String) {
        self.init(name: name, database: database)
        guard isKnown else { return nil }
    }

    /// Takes any name.
    init(name: String, database: String) {
        self.name = name
        self.database = database
    }

    /// Reads roles as commands give them: names, or documents with `role` and `db`.
    ///
    /// - Throws: 2 (BadValue), 31 (RoleNotFound).
    static func roles(_ values: BSONArray, on database: String) throws(CommandFailure) -> [Role] {
        var roles: [Role] = []
        for value in values {
            let role: Role
            if let name = value.stringValue {
                role = Role(name: name, database: database)
            } else if let name = value.documentValue?["role"]?.stringValue,
                let database = value.documentValue?["db"]?.stringValue
            {
                role = Role(name: name, database: database)
            } else {
                throw CommandFailure(
                    .badValue,
                    "Role names must be either strings or objects with \"role\" and \"db\" fields")
            }
            try DatabaseName.check(role.database)
            guard role.isKnown else {
                throw CommandFailure(31, "Could not find role: \(role.name)@\(role.database)")
            }
            if !roles.contains(role) { roles.append(role) }
        }
        return roles
    }

    /// The role as answers show it.
    var value: BSONValue { ["role": .string(name), "db": .string(database)] }
}
