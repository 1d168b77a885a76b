#if CommandLine
    import ArgumentParser
    import BSONStore
    import StitchSyncTesting

    /// The command that plays and records conflict fixtures.
    struct FixtureCommand: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "fixture",
            abstract: "Play and record conflict fixtures.",
            discussion: """
                Example:
                  stitchsync fixture run fixtures/conflicts
                """,
            subcommands: [RunFixturesCommand.self, RecordFixtureCommand.self])
    }

    /// The command that plays fixtures with a built-in handler.
    struct RunFixturesCommand: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "run",
            abstract: "Play a fixture file, or a folder of them, and show the differences.",
            discussion: """
                Each fixture describes a conflict and its expected result, and is played in \
                memory. Fixtures with the handler "app" need your app's own tests, \
                checkConflicts(in:handler:) of StitchSyncTesting, and are skipped here.

                Examples:
                  stitchsync fixture run fixtures/conflicts
                  stitchsync fixture run update-update.json --json

                Exit code: 0 when all fixtures give the expected result, 1 when one does not or a \
                file is invalid, 64 for a wrong command line.
                """)

        @Argument(help: "A fixture file, or a folder.", completion: .file())
        var path: String

        @Flag(help: "Write one JSON object for each fixture, with its result.")
        var json = false

        func run() async throws {
            let console = Console.standard
            var (passed, failed, skipped) = (0, 0, 0)
            for fixture in try ConflictFixture.load(path) {
                if case .app = fixture.handler {
                    skipped += 1
                    continue
                }
                let result = try await fixture.played()
                if json { try console.say(result.document.extendedJSON(.canonical)) }
                guard !result.differences.isEmpty else {
                    passed += 1
                    continue
                }
                failed += 1
                if json { continue }
                try console.say("\(fixture)")
                for difference in result.differences {
                    for line in difference.description.split(separator: "\n") {
                        try console.say("  \(line)")
                    }
                }
            }
            if !json {
                let left = skipped > 0 ? ", \(skipped) need the app's own handler" : ""
                try console.say("\(passed) passed, \(failed) failed\(left)")
            }
            guard failed == 0 else { throw ExitCode.failure }
        }
    }
#endif
