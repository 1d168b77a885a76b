#if CommandLine && Server
    import ArgumentParser
    import BSONStore
    import StitchServer

    /// The command that compares what users may do under two sets of rules.
    struct RulesDiffCommand: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "diff",
            abstract: "Show what other rules change, for real users and documents.",
            discussion: """
                Shows for each user and collection how many documents become visible or invisible, \
                and which fields become readable, hidden, writable or not, each with the _id of an \
                example. Of a collection with more than 10,000 documents it takes a sample.

                Examples:
                  stitchsync rules diff rules new-rules --db shop.stitch
                  stitchsync rules diff rules new-rules --db shop.stitch --user ann --json

                Exit code: 0, 1 when the rules have an error or the documents cannot be read, 64 for \
                a wrong command line.
                """)

        @Argument(help: "The folder of the present rules.", completion: .directory)
        var old: String

        @Argument(help: "The folder of the other rules.", completion: .directory)
        var new: String

        @Option(help: "A store's file, or a server with an administrator.")
        var db: String

        @Option(help: "A user, as name or name@database; may be repeated. All users without it.")
        var user: [String] = []

        @Flag(help: "Write one JSON object per user and collection.")
        var json = false

        /// The maximum number of users, unless they are named.
        private static let usersMax = 100

        func run() async throws {
            let rules = (
                try RuleFolder(RuleDatabase.folder(old)), try RuleFolder(RuleDatabase.folder(new))
            )
            let database = try RuleDatabase(db)
            let result: Result<Void, any Error>
            do {
                result = .success(try await compare(rules.0, rules.1, database))
            } catch {
                result = .failure(error)
            }
            await database.close()
            try result.get()
        }

        private func compare(
            _ old: RuleFolder, _ new: RuleFolder, _ database: RuleDatabase
        ) async throws {
            let console = Console.standard
            let users = try await self.users(database)
            var pairs: [(old: RuledUser, new: RuledUser)] = []
            for user in users {
                pairs.append(
                    (
                        try await database.customized(user, old),
                        try await database.customized(user, new)
                    ))
            }
            let named = Set(old.namespaces + new.namespaces)
            let everything = old.hasDefaults || new.hasDefaults
            var changes = 0
            for namespace in try await database.collections()
            where everything || named.contains(namespace) {
                var differences = pairs.compactMap {
                    RuleDifference(namespace, $0.old, from: old, to: new, newUser: $0.new)
                }
                guard !differences.isEmpty else { continue }
                let (documents, count) = try await database.sample(namespace)
                if documents.count < count {
                    try console.warn(
                        "note: \(namespace): a sample of \(documents.count) of \(count) documents")
                }
                for index in differences.indices {
                    for document in documents { differences[index].add(document) }
                }
                for difference in differences where !difference.isEmpty {
                    changes += 1
                    if json {
                        try console.say(difference.document.extendedJSON(.relaxed))
                    } else {
                        for line in difference.lines { try console.say(line.printable) }
                    }
                }
            }
            if changes == 0, !json {
                try console.say(
                    "no differences for \(users.count) user\(users.count == 1 ? "" : "s")")
            }
        }

        private func users(_ database: RuleDatabase) async throws -> [RuledUser] {
            guard user.isEmpty else {
                var users: [RuledUser] = []
                for text in user {
                    let parts = text.split(separator: "@", maxSplits: 1).map(String.init)
                    users.append(
                        try await database.user(
                            parts.first ?? "", on: parts.count > 1 ? parts[1] : "admin"))
                }
                return users
            }
            let all = try await database.users()
            if all.count > Self.usersMax {
                try Console.standard.warn(
                    "note: the first \(Self.usersMax) of \(all.count) users (--user names others)")
            }
            return Array(all.prefix(Self.usersMax))
        }
    }
#endif
