#if CommandLine && Server
    import ArgumentParser
    import BSONStore
    import StitchServer

    /// The command that creates a user on any database.
    struct UserAddCommand: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "add",
            abstract: "Create a user.",
            discussion: """
                Unlike `adduser` it needs a store that exists, and creates users on any database. If a \
                deleted user had the name, the new one has another id in rules, unless --rule-id \
                names it.

                Examples:
                  stitchsync user add shop.stitch ann --role readWrite@shop
                  stitchsync user add shop.stitch ben --database app --password-file ben.txt

                Exit code: 0, 1 when the user exists already, 64 for a wrong command line.
                """)

        @OptionGroup var user: UserArguments
        @OptionGroup var password: PasswordInput

        @Option(help: "ROLE@DATABASE, or ROLE for one on admin; may be given more than once.")
        var role: [String] = []

        @Option(
            name: .customLong("rule-id"),
            help: "The id in rules: the usual one of the name, or one of a former account.")
        var ruleID: String?

        func run() async throws {
            var fields: BSONDocument = [
                "pwd": .string(try password.read()), "roles": .array(ServerUsers.roles(role)),
            ]
            if let ruleID { fields.append("ruleID", .string(ruleID)) }
            try await user.run("createUser", fields)
            try Console.standard.say("\(user.name): created on the database \(user.database)")
        }
    }
#endif
