#if CommandLine && Server
    import ArgumentParser
    import BSONStore

    /// The command that disables a user.
    struct UserDisableCommand: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "disable",
            abstract: "Keep a user from signing in.",
            discussion: """
                Signing in fails as with a wrong password.

                Example:
                  stitchsync user disable shop.stitch ann --database app

                Exit code: 0, 1 when there is no such user, 64 for a wrong command line.
                """)

        @OptionGroup var user: UserArguments

        func run() async throws {
            try await user.run("updateUser", ["disabled": true])
            try Console.standard.say("\(user.name): disabled")
        }
    }
#endif
