#if CommandLine
    import ArgumentParser

    /// The user as whom a command signs in to a server.
    struct SignInArguments: ParsableArguments {
        @Option(help: "The user of a server, if the URI names none.")
        var user: String?

        @Option(
            help: """
                The file whose first line is the user's password; without it, the variable \
                STITCHSYNC_PASSWORD, or the terminal.
                """, completion: .file())
        var passwordFile: String?
    }
#endif
