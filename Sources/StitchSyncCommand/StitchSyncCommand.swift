#if CommandLine
    import ArgumentParser
    internal import StitchVersionC

    /// The command-line tool, for inspecting stores and trying out sync.
    @main
    struct StitchSyncCommand: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "stitchsync",
            abstract: "Sync documents between store files and MongoDB servers.",
            discussion: """
                Example:
                  stitchsync import shop.stitch shop.products products.jsonl
                  stitchsync sync shop.stitch shop.products --remote remote.stitch
                  stitchsync status shop.stitch

                Exit code: 0 on success, 1 when something failed, 64 for a wrong command line. See \
                Docs/CLI.md.
                """,
            version: version,
            subcommands: [
                ImportCommand.self, ExportCommand.self, FindCommand.self, AggregateCommand.self,
                InsertCommand.self, UpdateCommand.self, DeleteCommand.self, CountCommand.self,
                ListCommand.self, StatsCommand.self, IndexCommand.self, DropCommand.self,
                ExplainCommand.self, SyncCommand.self, StatusCommand.self, DiffCommand.self,
                ResumeCommand.self, ResolveCommand.self, RetryCommand.self,
                DiscardCommand.self, WatchCommand.self,
                TraceCommand.self, InspectCommand.self,
                VerifyCommand.self, CompactCommand.self, FixtureCommand.self, DemoCommand.self,
                DemoDeviceCommand.self,
            ] + servers)

        /// The version, and in a packaged tool the commit.
        private static var version: String {
            let commit = String(cString: stitch_commit())
            return commit.isEmpty ? "0.1.0" : "0.1.0 (\(commit))"
        }

        /// Runs the command that the arguments name.
        ///
        /// As ArgumentParser does it, except that errors do not repeat passwords.
        static func main() async {
            do {
                try FirstWords(configuration).check(CommandLine.arguments.dropFirst())
                var command = try parseAsRoot(
                    MongoshArguments.translated(Array(CommandLine.arguments.dropFirst())))
                if var asyncCommand = command as? any AsyncParsableCommand {
                    try await asyncCommand.run()
                } else {
                    try command.run()
                }
            } catch {
                end(error)
            }
        }

        private static func end(_ error: any Error) -> Never {
            let code = exitCode(for: error)
            var text = HiddenPassword.hidden(in: fullMessage(for: error))
            if code != .success { text = EngineText.translated(text) }
            if code != .success, let advice = ErrorAdvice.advice(for: text) {
                text += "\nHint: \(advice)"
            }
            if !text.isEmpty {
                let console = Console.standard
                do throws(CommandError) {
                    try code == .success ? console.say(text) : console.warn(text)
                } catch {
                    // The output is closed: only the exit code is left.
                }
            }
            exit(withError: code)
        }

        /// The commands that need SwiftNIO, and thus the trait `Server`.
        private static var servers: [any ParsableCommand.Type] {
            #if Server
                [
                    ServeCommand.self, ShellCommand.self, AddUserCommand.self, UserCommand.self,
                    WhoCommand.self, RulesCommand.self,
                ]
            #else
                []
            #endif
        }
    }
#else
    internal import Foundation

    /// The program without the trait `CommandLine`, which only says how to build the tool.
    @main
    struct StitchSyncCommand {
        static func main() {
            let text = "stitchsync: built without the tool; add --traits Tool\n"
            FileHandle.standardError.write(Data(text.utf8))
            exit(64)
        }
    }
#endif
