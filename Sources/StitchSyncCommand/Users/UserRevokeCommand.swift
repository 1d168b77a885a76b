#if CommandLine && Server
    import ArgumentParser
    import BSONStore
    import StitchServer

    /// The command that takes roles from a user.
    struct UserRevokeCommand: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "revoke",
            abstract: "Take roles from a user.",
            discussion: """
                The user keeps other roles. A role that the user does not have is ignored.

                Example:
                  stitchsync user revoke shop.stitch ann --role readWrite@shop

                Exit code: 0, 1 when there is no such user or role, 64 for a wrong command line.
                """)

        @OptionGroup var user: UserArguments

        @Option(help: "ROLE@DATABASE, or ROLE for one on admin; may be given more than once.")
        var role: [String]

        func run() async throws {
            try await user.run("revokeRolesFromUser", ["roles": .array(ServerUsers.roles(role))])
            try Console.standard.say("\(user.name): \(role.joined(separator: ", ")) revoked")
        }
    }
#endif
