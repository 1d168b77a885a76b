#if CommandLine && Server
    import ArgumentParser

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

        @OptionGroup var roles: UserRoleArguments

        func run() async throws { try await roles.run("grantRolesToUser", "granted") }
    }
#endif
