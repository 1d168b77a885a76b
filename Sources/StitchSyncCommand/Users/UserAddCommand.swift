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
                Unlike `adduser` it needs a store that exists, and creates users on any database.

                Examples:
                  stitchsync user add shop.stitch ann --role readWrite@shop
                  stitchsync user add shop.stitch ben --database app --password-file ben.txt

                Exit code: 0, 1 when the user exists already, 64 for a wrong command line.
                """)

        @OptionGroup var user: UserArguments
        @OptionGroup var password: PasswordInput

        @Option(help: "ROLE@DATABASE, or ROLE for one on admin; may be given more than once.")
        var role: [String] = []

        func run() async throws {
            try await user.run(
                "createUser",
                ["pwd": .string(try password.read()), "roles": .array(ServerUsers.roles(role))])
            try Console.standard.say("\(user.name): created on the database \(user.database)")
        }
    }
#endif
