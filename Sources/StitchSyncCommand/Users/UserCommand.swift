#if CommandLine && Server
    import ArgumentParser

    /// The group of the commands that manage users.
    struct UserCommand: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "user",
            abstract: "Manage the users of a server's store file, or of a server.",
            discussion: """
                Name the file that `stitchsync serve --auth` serves, or a server or gateway with an \
                administrator. At a server, changes also end the sign-ins of open connections; in a \
                file, a running server sees a change at the next sign-in.

                Examples:
                  stitchsync user list shop.stitch
                  stitchsync user disable shop.stitch ann --database app

                Exit code: 0, 1 when a command failed, 64 for a wrong command line.
                """,
            subcommands: [
                UserListCommand.self, UserShowCommand.self, UserAddCommand.self,
                UserPasswordCommand.self, UserTokenCommand.self, UserDisableCommand.self,
                UserEnableCommand.self, UserGrantCommand.self, UserRevokeCommand.self,
                UserDeleteCommand.self,
            ])
    }
#endif
