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

                With --handler, all fixtures are played with that handler instead, and the output \
                says for each what it would change: so you see what a built-in handler makes of \
                the conflicts that devices shared (fixture record --from). For a handler in \
                Swift, call compareConflicts(in:handler:) in the app's tests.

                Examples:
                  stitchsync fixture run fixtures/conflicts
                  stitchsync fixture run update-update.json --json
                  stitchsync fixture run fleet.json --handler mergeFields
                  stitchsync fixture run fleet.json --handler '{"newest": "updatedAt"}'

                Exit code: 0 when all fixtures give the expected result, 1 when one does not or a \
                file is invalid, 64 for a wrong command line. With --handler: 1 when it changes a \
                result.
                """)

        @Argument(help: "A fixture file, or a folder.", completion: .file())
        var path: String

        @Flag(help: "Write one JSON object for each fixture, with its result.")
        var json = false

        @Option(
            help: """
                Play all fixtures with this handler: remoteWins, localWins, mergeFields, or JSON \
                as in a fixture.
                """, transform: { try FixtureHandler(commandLine: $0) })
        var handler: FixtureHandler?

        func run() async throws {
            if let handler { return try await compare(with: handler) }
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

        /// Prints what a handler changes in the results of the fixtures.
        private func compare(with handler: FixtureHandler) async throws {
            let console = Console.standard
            var (same, different) = (0, 0)
            for fixture in try ConflictFixture.load(path) {
                var changed = fixture
                changed.handler = handler
                let result = try await changed.played()
                if json { try console.say(result.document.extendedJSON(.canonical)) }
                let comparison = StitchSyncTesting.ConflictComparison(
                    fixture: fixture, differences: result.differences)
                same += comparison.isSame ? 1 : 0
                different += comparison.isSame ? 0 : 1
                guard !json, !comparison.isSame else { continue }
                try console.say("\(comparison)")
                for difference in comparison.differences {
                    for line in difference.description.split(separator: "\n") {
                        try console.say("  \(line)")
                    }
                }
            }
            if !json { try console.say("\(same) same, \(different) different") }
            guard different == 0 else { throw ExitCode.failure }
        }
    }
#endif
