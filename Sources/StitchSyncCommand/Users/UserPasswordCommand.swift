#if CommandLine && Server
    import ArgumentParser
    import BSONStore

    /// The command that sets a user's password.
    struct UserPasswordCommand: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "passwd",
            abstract: "Set a user's password.",
            discussion: """
                Connections that are open stay signed in. To end them, use `user disable` and then \
                `user enable`.

                Examples:
                  stitchsync user passwd shop.stitch ann
                  stitchsync user passwd shop.stitch ann --database app --password-file ann.txt

                Exit code: 0, 1 when there is no such user, 64 for a wrong command line.
                """)

        @OptionGroup var user: UserArguments
        @OptionGroup var password: PasswordInput

        func run() async throws {
            try await user.run("updateUser", ["pwd": .string(try password.read())])
            try Console.standard.say("\(user.name): the password was changed")
        }
    }
#endif
