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

        @OptionGroup var signIn: RuleSignInArguments

        @Flag(help: "Write one JSON object per user and collection.")
        var json = false

        /// The maximum number of users, unless they are named.
        private static let usersMax = 100

        func run() async throws {
            let rules = (
                try RuleFolder(RuleDatabase.folder(old)), try RuleFolder(RuleDatabase.folder(new))
            )
            let (user, json) = (user, json)
            try await RuleDatabase.run(at: db, signIn) { database in
                let users = try Self.users(user, database)
                try Self.compare(rules.0, rules.1, users, database, asJSON: json)
            }
        }

        private static func compare(
            _ old: RuleFolder, _ new: RuleFolder, _ users: [RuledUser], _ database: RuleDatabase,
            asJSON json: Bool
        ) throws {
            let console = Console.standard
            let pairs = try users.map { user in
                (old: try database.customized(user, old), new: try database.customized(user, new))
            }
            let named = Set(old.namespaces + new.namespaces)
            let everything = old.hasDefaults || new.hasDefaults
            var changes = 0
            for namespace in try database.collections()
            where everything || named.contains(namespace) {
                var differences = pairs.compactMap {
                    RuleDifference(namespace, $0.old, from: old, to: new, newUser: $0.new)
                }
                guard !differences.isEmpty else { continue }
                let (documents, count) = try database.sample(namespace)
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

        /// Returns the named users; all users, up to a limit, if none is named.
        private static func users(
            _ named: [String], _ database: RuleDatabase
        ) throws -> [RuledUser] {
            guard named.isEmpty else {
                return try named.map { text in
                    let parts = text.split(separator: "@", maxSplits: 1).map(String.init)
                    return try database.existingUser(
                        parts.first ?? "", on: parts.count > 1 ? parts[1] : "admin")
                }
            }
            let all = try database.users()
            if all.count > usersMax {
                try Console.standard.warn(
                    "note: the first \(usersMax) of \(all.count) users (--user names others)")
            }
            return Array(all.prefix(usersMax))
        }
    }
#endif
