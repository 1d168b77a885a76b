internal import BSONStore
internal import StitchRules

/// A dry run of changed rules over the server's users and documents.
struct RuleTrial: RuleDocuments {
    /// The maximum number of users.
    static let usersMax = 50
    /// The maximum number of documents of a collection; of more it takes a sample.
    static let documentsMax = 2_000
    /// The longest time that a trial takes, apart from the last collection.
    private static let timeMax: Duration = .seconds(15)

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
        let all = try users().filter { !$0.isBoundless }
        if all.count > Self.usersMax {
            notes.append("The first \(Self.usersMax) of \(all.count) users were tried.")
        }
        return try all.prefix(Self.usersMax).map { user in
            (try customized(user, old), try customized(user, new))
        }
    }

    private func sample(_ namespace: Namespace, _ notes: inout [String]) throws -> [BSONDocument] {
        let (documents, count) = try sample(namespace, max: Self.documentsMax)
        if documents.count < count {
            notes.append("\(namespace): a sample of \(documents.count) of \(count) documents.")
        }
        return documents
    }

    func run(_ command: BSONDocument, on database: String) throws -> BSONDocument {
        try console.run(command, on: database, session)
    }

    func documents(_ command: BSONDocument, on database: String) throws -> [BSONDocument] {
        var cursor = try run(command, on: database)["cursor"]?.documentValue
        var documents = (cursor?["firstBatch"]?.arrayValue ?? []).compactMap(\.documentValue)
        while let id = cursor?["id"]?.int64Value, id != 0,
            let name = cursor?["ns"]?.stringValue
        {
            let collection = String(name.drop { $0 != "." }.dropFirst())
            cursor = try run(
                ["getMore": .int64(id), "collection": .string(collection)], on: database)[
                    "cursor"]?.documentValue
            documents += (cursor?["nextBatch"]?.arrayValue ?? []).compactMap(\.documentValue)
        }
        return documents
    }
}
