#if CommandLine && Server
    import ArgumentParser
    import BSONStore
    import StitchServer

    /// The command that gives roles to a user.
    struct UserGrantCommand: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "grant",
            abstract: "Give roles to a user.",
            discussion: """
                The user keeps other roles. Under rules, the roles on a database decide whether the \
                user may use it at all; the rules decide about documents.

                Example:
                  stitchsync user grant shop.stitch ann --role readWrite@shop

                Exit code: 0, 1 when there is no such user or role, 64 for a wrong command line.
                """)

        @OptionGroup var user: UserArguments

        @Option(help: "ROLE@DATABASE, or ROLE for one on admin; may be given more than once.")
        var role: [String]

        func run() async throws {
            try await user.run("grantRolesToUser", ["roles": .array(ServerUsers.roles(role))])
            try Console.standard.say("\(user.name): \(role.joined(separator: ", ")) granted")
        }
    }
#endif
