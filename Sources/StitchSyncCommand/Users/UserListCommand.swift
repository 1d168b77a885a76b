#if CommandLine && Server
    import ArgumentParser
    import BSONStore

    /// The command that lists users.
    struct UserListCommand: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "list",
            abstract: "List the users, without their passwords.",
            discussion: """
                Examples:
                  stitchsync user list shop.stitch
                  stitchsync user list stitchsync://admin@localhost:27017 --json

                Exit code: 0, 1 when the users cannot be read, 64 for a wrong command line.
                """)

        @OptionGroup var place: UserPlace

        @Flag(help: "Write one JSON object per user.")
        var json = false

        func run() async throws {
            let reply = try await place.run(["usersInfo": ["forAllDBs": true]], on: "admin")
            try UserListing.say(UserListing.users(reply), asJSON: json)
        }
    }
#endif
