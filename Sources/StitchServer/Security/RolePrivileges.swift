internal import BSONStore

/// The privileges of a role, in MongoDB's form: resources with the actions that are allowed on them.
///
/// The actions are those that this server checks, by their names in MongoDB.
///
/// Source: MongoDB manual, "Privilege Actions".
struct RolePrivileges {
    private let role: Role

    init(_ role: Role) { self.role = role }

    /// The privileges as a reply holds them.
    var value: BSONValue {
        let isEverywhere =
            role.database.hasSameBytes(as: "admin") && Role.ofAdmin.contains(role.name)
        let database: BSONValue = isEverywhere ? "" : .string(role.database)
        var privileges: [BSONValue] = []
        let ofDatabase = actions([
            .read, .write, .collections, .databaseAdministration, .userAdministration,
        ])
        if !ofDatabase.isEmpty {
            privileges.append(
                Self.privilege(["db": database, "collection": ""], ofDatabase))
        }
        let ofCluster = actions([.monitoring, .clusterAdministration])
        if !ofCluster.isEmpty { privileges.append(Self.privilege(["cluster": true], ofCluster)) }
        return .array(BSONArray(privileges))
    }

    private func actions(_ accesses: [Role.Access]) -> [String] {
        let given = accesses.filter { role.gives($0, on: role.database) }
        return Set(given.flatMap(Self.actions)).sorted()
    }

    private static func privilege(_ resource: BSONDocument, _ actions: [String]) -> BSONValue {
        [
            "resource": .document(resource),
            "actions": .array(BSONArray(actions.map { .string($0) })),
        ]
    }

    private static func actions(_ access: Role.Access) -> [String] {
        switch access {
        case .signedIn: []
        case .read:
            [
                "changeStream", "collStats", "dbHash", "dbStats", "find", "killCursors",
                "listCollections", "listIndexes",
            ]
        case .write: ["insert", "remove", "update"]
        case .collections:
            [
                "convertToCapped", "createCollection", "createIndex", "dropCollection", "dropIndex",
                "renameCollectionSameDB",
            ]
        case .databaseAdministration:
            [
                "bypassDocumentValidation", "collMod", "compact", "dropDatabase", "enableProfiler",
                "reIndex", "validate",
            ]
        case .userAdministration:
            [
                "changeCustomData", "changePassword", "createUser", "dropUser", "grantRole",
                "revokeRole", "viewRole", "viewUser",
            ]
        case .monitoring:
            [
                "connPoolStats", "getCmdLineOpts", "getLog", "getParameter", "hostInfo", "inprog",
                "listDatabases", "serverStatus", "top",
            ]
        case .clusterAdministration:
            ["fsync", "killAnySession", "killop", "logRotate", "setParameter"]
        }
    }
}
