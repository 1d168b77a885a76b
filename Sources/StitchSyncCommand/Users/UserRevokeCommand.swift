#if CommandLine && Server
    import ArgumentParser

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

        @OptionGroup var roles: UserRoleArguments

        func run() async throws { try await roles.run("revokeRolesFromUser", "revoked") }
    }
#endif
