#if CommandLine && Server
    import ArgumentParser
    import BSONStore

    /// The command that makes a token for a forgotten password.
    struct UserTokenCommand: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "token",
            abstract: "Make a token by which a user sets a new password once.",
            discussion: """
                Send the token to the user. A newer token makes it invalid.

                Examples:
                  stitchsync user token shop.stitch ann --database app
                  stitchsync user token shop.stitch ann --minutes 10 --json

                Exit code: 0, 1 when there is no such user, 64 for a wrong command line.
                """)

        @OptionGroup var user: UserArguments

        @Option(help: "How long the token is valid, 1 to 10,080.")
        var minutes = 60

        @Flag(help: "Write a JSON object with the token and its end.")
        var json = false

        func run() async throws {
            let reply = try await user.run(
                "stitchsyncMakePasswordToken", ["minutes": .int32(Int32(clamping: minutes))])
            let token = reply["token"]?.stringValue ?? ""
            let object: BSONDocument = [
                "token": .string(token), "expires": reply["expires"] ?? .null,
            ]
            try Console.standard.say(json ? object.extendedJSON(.relaxed) : token)
        }
    }
#endif
