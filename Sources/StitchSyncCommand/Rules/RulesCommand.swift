#if CommandLine && Server
    import ArgumentParser

    /// The group of the commands that try rules before a server loads them.
    struct RulesCommand: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "rules",
            abstract: "Check, explain and compare rules before a server loads them.",
            discussion: """
                A folder has the files that `stitchsync serve --rules` reads.

                Examples:
                  stitchsync rules check rules
                  stitchsync rules diff rules new-rules --db shop.stitch

                Exit code: 0, 1 when a command failed, 64 for a wrong command line.
                """,
            subcommands: [
                RulesCheckCommand.self, RulesExplainCommand.self, RulesDiffCommand.self,
            ])
    }
#endif
