#if CommandLine && Server
    import ArgumentParser
    import BSONStore
    import StitchServer

    /// The command that explains what a user may do with a document.
    struct RulesExplainCommand: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "explain",
            abstract: "Explain what rules let a user do with a document.",
            discussion: """
                Shows whether the user has a role on the database, without which a server refuses \
                every command, then the roles of the rules that were tried, what the user sees of the document, whether the \
                user may change, delete or insert it, and the permissions of each field.

                Examples:
                  stitchsync rules explain rules shop.items '"chair"' --user ann --db shop.stitch
                  stitchsync rules explain rules shop.items '"chair"' --user ann \\
                      --db stitchsync://localhost:27017 --admin root

                Exit code: 0, 1 when the rules have an error, or there is no such user or document, \
                64 for a wrong command line.
                """)

        @Argument(help: "The folder of the rules.", completion: .directory)
        var folder: String

        @Argument(
            help: "The collection, as database.collection.",
            transform: { try Namespace(parsing: $0) })
        var namespace: Namespace

        @Argument(
            help: "The _id of the document, in Extended JSON.",
            transform: { try ExtendedJSONArgument.value($0) })
        var id: BSONValue

        @Option(help: "A store's file, or a server with an administrator.")
        var db: String

        @OptionGroup var who: RuledUserArguments

        @OptionGroup var signIn: RuleSignInArguments

        @Flag(help: "Write a JSON object.")
        var json = false

        func run() async throws {
            let rules = try RuleFolder(RuleDatabase.folder(folder))
            let (namespace, id, who) = (namespace, id, who)
            let (explanation, hasRole) = try await RuleDatabase.run(at: db, signIn) { database in
                let user = try who.user(database, rules)
                let document = try Self.document(id, namespace, database)
                return (
                    rules.explanation(of: document, in: namespace, to: user),
                    user.hasRole(on: namespace.database)
                )
            }
            let console = Console.standard
            guard !json else {
                var object = explanation.document
                object.append("hasDatabaseRole", .bool(hasRole))
                return try console.say(object.extendedJSON(.relaxed))
            }
            if !hasRole {
                try console.say(
                    "Has the user a role on the database \(namespace.database)? no: the server "
                        + "refuses every command (error 13), whatever the rules allow; give one with "
                        + "`stitchsync user grant \(ShellWord(db)) \(ShellWord(who.user ?? "")) "
                        + "\(ShellWord.option("role", "readWrite@\(namespace.database)"))`")
            }
            for step in explanation.steps {
                try console.say("\(step.question) \(step.answer)".printable)
            }
            if let sees = explanation.sees {
                try console.say("The user sees \(sees.extendedJSON(.relaxed))")
            }
            var table = TextTable(["field", "read", "write"])
            for field in explanation.fields {
                table.append([
                    field.path.printable, field.isReadable ? "yes" : "no",
                    field.isWritable ? "yes" : "no",
                ])
            }
            for line in table.lines { try console.say(line) }
        }

        private static func document(
            _ id: BSONValue, _ namespace: Namespace, _ database: RuleDatabase
        ) throws -> BSONDocument {
            let found = try database.documents(
                [
                    "find": .string(namespace.collection), "filter": ["_id": ["$eq": id]],
                    "limit": 1,
                ], on: namespace.database)
            guard let document = found.first else {
                throw CommandError("\(namespace) has no document with this _id")
            }
            return document
        }
    }

    /// The user for whom rules are tried.
    struct RuledUserArguments: ParsableArguments {
        @Option(help: "The user's name.")
        var user: String?

        @Option(help: "The database that holds the user.")
        var database = "admin"

        @Option(help: "Instead of --user: a value for %%user.id.")
        var userID: String?

        @Option(
            help: "A value for %%user.custom_data, instead of the stored one.",
            transform: { try ExtendedJSONArgument.document($0) })
        var customData: BSONDocument?

        func validate() throws {
            guard (user == nil) != (userID == nil) else {
                throw ValidationError("name the user by --user or by --user-id")
            }
        }

        /// Returns the user, as stored in a database, with the custom data that rules read.
        func user(_ place: RuleDatabase, _ rules: RuleFolder) throws -> RuledUser {
            var found =
                try user.map { try place.existingUser($0, on: database) }
                ?? RuledUser(id: userID ?? "")
            guard let customData else { return try place.customized(found, rules) }
            found.setCustomData(customData)
            return found
        }
    }
#endif
