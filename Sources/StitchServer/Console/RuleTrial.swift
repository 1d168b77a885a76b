internal import BSONStore
internal import StitchRules

/// A dry run of changed rules over the server's users and documents.
struct RuleTrial {
    /// The maximum number of users.
    static let usersMax = 50
    /// The maximum number of documents of a collection; of more it takes a sample.
    static let documentsMax = 2_000
    /// The longest time that a trial takes, apart from the last collection.
    private static let timeMax: Duration = .seconds(15)
    /// The databases of the server itself, which rules do not concern.
    private static let ownDatabases = [
        "admin", "config", "local", "stitchsync", "stitchsync_gateway",
    ]

    let console: Console
    let session: ConsoleSession
    let old: RuleFolder
    let new: RuleFolder

    /// Compares the access of each user to each document.
    ///
    /// - Throws: `ConsoleFault` with the error of a command.
    func document() throws -> BSONDocument {
        var notes: [String] = []
        let users = try self.users(&notes)
        let end = ContinuousClock.now + Self.timeMax
        let named = Set(old.namespaces + new.namespaces)
        let everything = old.hasDefaults || new.hasDefaults
        var (found, documentCount): ([BSONValue], Int) = ([], 0)
        for namespace in try collections() where everything || named.contains(namespace) {
            guard ContinuousClock.now < end else {
                notes.append("The trial took too long and ended before \(namespace).")
                break
            }
            var differences = users.compactMap {
                RuleDifference(namespace, $0.old, from: old, to: new, newUser: $0.new)
            }
            guard !differences.isEmpty else { continue }
            let documents = try sample(namespace, &notes)
            documentCount += documents.count
            for index in differences.indices {
                for document in documents { differences[index].add(document) }
            }
            found += differences.filter { !$0.isEmpty }.map { .document($0.document) }
        }
        return [
            "differences": .array(BSONArray(found)), "users": .int32(Int32(users.count)),
            "documents": .int64(Int64(documentCount)),
            "notes": .array(BSONArray(notes.map { .string($0) })),
        ]
    }

    private func users(_ notes: inout [String]) throws -> [(old: RuledUser, new: RuledUser)] {
        let reply = try console.run(["usersInfo": ["forAllDBs": true]], on: "admin", session)
        let all = (reply["users"]?.arrayValue ?? []).compactMap(\.documentValue)
            .compactMap(RuledUser.init(listed:)).filter { !$0.isBoundless }
        if all.count > Self.usersMax {
            notes.append("The first \(Self.usersMax) of \(all.count) users were tried.")
        }
        return try all.prefix(Self.usersMax).map { user in
            (try customized(user, old), try customized(user, new))
        }
    }

    private func customized(_ user: RuledUser, _ rules: RuleFolder) throws -> RuledUser {
        guard let query = rules.customDataQuery(of: user) else { return user }
        var user = user
        user.setCustomData(try documents(query.command, on: query.database).first)
        return user
    }

    private func collections() throws -> [Namespace] {
        let reply = try console.run(
            ["listDatabases": 1, "nameOnly": true], on: "admin", session)
        let databases = (reply["databases"]?.arrayValue ?? []).compactMap {
            $0.documentValue?["name"]?.stringValue
        }
        var found: [Namespace] = []
        for database in databases
        where !Self.ownDatabases.contains(where: { $0.hasSameBytes(as: database) }) {
            let listed = try documents(["listCollections": 1, "nameOnly": true], on: database)
            found += listed.filter { $0["type"] == "collection" }
                .compactMap { $0["name"]?.stringValue }
                .filter { !$0.hasBytePrefix("system.") }.map { Namespace(database, $0) }
        }
        return found
    }

    private func sample(_ namespace: Namespace, _ notes: inout [String]) throws -> [BSONDocument] {
        let reply = try console.run(
            ["count": .string(namespace.collection)], on: namespace.database, session)
        let count = reply["n"]?.int64Value ?? 0
        guard count > Self.documentsMax else {
            return try documents(
                ["find": .string(namespace.collection)], on: namespace.database)
        }
        notes.append("\(namespace): a sample of \(Self.documentsMax) of \(count) documents.")
        let stage: BSONValue = ["$sample": ["size": .int32(Int32(Self.documentsMax))]]
        return try documents(
            ["aggregate": .string(namespace.collection), "pipeline": [stage], "cursor": [:]],
            on: namespace.database)
    }

    /// Runs a command that opens a cursor, and returns all documents.
    private func documents(
        _ command: BSONDocument, on database: String
    ) throws -> [BSONDocument] {
        var cursor = try console.run(command, on: database, session)["cursor"]?.documentValue
        var documents = (cursor?["firstBatch"]?.arrayValue ?? []).compactMap(\.documentValue)
        while let id = cursor?["id"]?.int64Value, id != 0,
            let name = cursor?["ns"]?.stringValue
        {
            let collection = String(name.drop { $0 != "." }.dropFirst())
            cursor =
                try console.run(
                    ["getMore": .int64(id), "collection": .string(collection)], on: database,
                    session)["cursor"]?.documentValue
            documents += (cursor?["nextBatch"]?.arrayValue ?? []).compactMap(\.documentValue)
        }
        return documents
    }
}
