#if CommandLine && Server
    import ArgumentParser
    import BSONStore

    /// The command that removes a user.
    struct UserDeleteCommand: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "delete",
            abstract: "Delete a user; the user's documents stay.",
            discussion: """
                Example:
                  stitchsync user delete shop.stitch ann --database app

                Exit code: 0, 1 when there is no such user, 64 for a wrong command line.
                """)

        @OptionGroup var user: UserArguments

        func run() async throws {
            try await user.run("dropUser")
            try Console.standard.say("\(user.name): deleted")
        }
    }
#endif
