#if CommandLine && Server
    import ArgumentParser
    import BSONStore

    /// The command that shows one user.
    struct UserShowCommand: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "show",
            abstract: "Show a user, without the password.",
            discussion: """
                Examples:
                  stitchsync user show shop.stitch ann
                  stitchsync user show shop.stitch ann --database app --json

                Exit code: 0, 1 when there is no such user, 64 for a wrong command line.
                """)

        @OptionGroup var user: UserArguments

        @Flag(help: "Write a JSON object.")
        var json = false

        func run() async throws {
            let found = UserListing.users(try await user.run("usersInfo"))
            guard !found.isEmpty else {
                throw CommandError("\(user.name): the database \(user.database) has no such user")
            }
            try UserListing.say(found, asJSON: json)
        }
    }
#endif
