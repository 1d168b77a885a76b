#if CommandLine && Server
    import ArgumentParser
    import BSONStore

    /// The command that enables a user.
    struct UserEnableCommand: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "enable",
            abstract: "Let a disabled user sign in again.",
            discussion: """
                The password is the same as before.

                Example:
                  stitchsync user enable shop.stitch ann --database app

                Exit code: 0, 1 when there is no such user, 64 for a wrong command line.
                """)

        @OptionGroup var user: UserArguments

        func run() async throws {
            try await user.run("updateUser", ["disabled": false])
            try Console.standard.say("\(user.name): enabled")
        }
    }
#endif
