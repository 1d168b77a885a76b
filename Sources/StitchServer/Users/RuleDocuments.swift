package import BSONStore

/// The users and documents with which rules are tried.
package protocol RuleDocuments {
    /// Runs a command.
    ///
    /// - Throws: an error with the message of a command that failed.
    func run(_ command: BSONDocument, on database: String) throws -> BSONDocument

    /// Runs a command that opens a cursor, and returns all documents.
    func documents(_ command: BSONDocument, on database: String) throws -> [BSONDocument]
}

extension RuleDocuments {
    /// Returns the collections of all databases but the server's own, in order.
    package func collections() throws -> [Namespace] {
        let reply = try run(["listDatabases": 1, "nameOnly": true], on: "admin")
        let databases = (reply["databases"]?.arrayValue ?? []).compactMap {
            $0.documentValue?["name"]?.stringValue
        }
        return try databases.filter { !Namespace.isOfServer(database: $0) }.flatMap { database in
            try documents(["listCollections": 1, "nameOnly": true], on: database)
                .filter { $0["type"] == "collection" }.compactMap { $0["name"]?.stringValue }
                .map { Namespace(database, $0) }.filter { !$0.isOfServer }
        }.sorted()
    }

    /// Returns the documents of a collection, or a sample of many, and their number.
    package func sample(
        _ namespace: Namespace, max: Int
    ) throws -> (documents: [BSONDocument], count: Int) {
        let name = BSONValue.string(namespace.collection)
        let count = Int(try run(["count": name], on: namespace.database)["n"]?.int64Value ?? 0)
        guard count > max else {
            let all = try documents(["find": name], on: namespace.database)
            return (all, all.count)
        }
        let stage: BSONValue = ["$sample": ["size": .int64(Int64(max))]]
        let sample = try documents(
            ["aggregate": name, "pipeline": [stage], "cursor": [:]], on: namespace.database)
        return (sample, count)
    }

    /// Returns all users.
    package func users() throws -> [RuledUser] {
        try users(["forAllDBs": true], on: "admin")
    }

    /// Returns a user; `nil` if there is no such user.
    package func user(_ name: String, on database: String) throws -> RuledUser? {
        try users(.string(name), on: database).first
    }

    private func users(_ named: BSONValue, on database: String) throws -> [RuledUser] {
        let reply = try run(["usersInfo": named], on: database)
        return (reply["users"]?.arrayValue ?? []).compactMap(\.documentValue)
            .compactMap(RuledUser.init(listed:))
    }

    /// Returns a user with the stored custom data that rules read.
    package func customized(_ user: RuledUser, _ rules: RuleFolder) throws -> RuledUser {
        guard let query = rules.customDataQuery(of: user) else { return user }
        var user = user
        user.setCustomData(try documents(query.command, on: query.database).first)
        return user
    }
}
