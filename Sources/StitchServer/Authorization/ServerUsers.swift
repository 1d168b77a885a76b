package import BSONStore

/// The users in a store file, managed without a client.
package enum ServerUsers {
    /// Creates a user on the database `admin`; a server with the file open sees it at once.
    ///
    /// - Parameters:
    ///   - roles: such as `readWrite@shop`; a name without a database is a role on `admin`.
    ///   - customData: the document that rules read as `%%user.data`.
    /// - Throws: a `CommandFailure` of `createUser` for invalid arguments; `StoreError`.
    package static func add(
        _ name: String, password: String, roles: [String], customData: BSONDocument?,
        to store: DocumentStore
    ) throws {
        guard !name.isEmpty, !password.isEmpty else {
            throw CommandFailure(.badValue, "A user has a name and a password that are not empty")
        }
        var user = User(name: name, database: "admin")
        user.roles = try Role.roles(Self.roles(roles), on: "admin")
        if let customData { user.customData = .document(customData) }
        try user.setPassword(password, ScramMechanism.allCases)
        try store.write { [user] transaction in
            var user = user
            guard try transaction.get(User.namespace, id: .string(user.id)) == nil else {
                throw CommandFailure(51003, "User \"\(name)@admin\" already exists")
            }
            try FormerName.distinguish(&user, in: transaction)
            try transaction.put(User.namespace, user.stored)
        }
    }

    /// Returns roles as `createUser` takes them.
    ///
    /// - Parameter texts: such as `readWrite@shop`; a name without a database is a role on `admin`.
    package static func roles(_ texts: [String]) -> BSONArray {
        BSONArray(
            texts.map { text in
                let parts = text.split(atByte: "@", maxSplits: 1).map(String.init)
                let database = parts.count > 1 ? parts[1] : "admin"
                return ["role": .string(parts.first ?? ""), "db": .string(database)]
            })
    }
}
