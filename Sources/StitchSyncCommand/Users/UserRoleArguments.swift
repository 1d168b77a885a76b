#if CommandLine && Server
    import ArgumentParser
    import BSONStore
    import StitchServer

    /// A user and the roles that a command gives to the user or takes away.
    struct UserRoleArguments: ParsableArguments {
        @OptionGroup var user: UserArguments

        @Option(help: "ROLE@DATABASE, or ROLE for one on admin; may be given more than once.")
        var role: [String]

        /// Runs a command with the roles, and prints what it did with them.
        func run(_ command: String, _ done: String) async throws {
            try await user.run(command, ["roles": .array(ServerUsers.roles(role))])
            try Console.standard.say("\(user.name): \(role.joined(separator: ", ")) \(done)")
        }
    }
#endif
