#if CommandLine && Server
    import ArgumentParser
    import BSONStore
    import StitchServer

    /// The command that reports errors and probable mistakes of rules.
    struct RulesCheckCommand: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "check",
            abstract: "Report errors and probable mistakes of rules.",
            discussion: """
                Prints a line for each finding: file, line, column, and the place in the file. With \
                --db it also reports collections that do not exist, filters without an index, and \
                fields of custom data that no user has.

                Examples:
                  stitchsync rules check rules
                  stitchsync rules check rules --db shop.stitch --strict --json

                Exit code: 0, 1 for rules with an error (with --strict also with a warning), 64 for \
                a wrong command line.
                """)

        @Argument(help: "The folder of the rules.", completion: .directory)
        var folder: String

        @Option(help: "A store's file, or a server with an administrator, to check against.")
        var db: String?

        @OptionGroup var signIn: RuleSignInArguments

        @Flag(help: "Fail for warnings, too.")
        var strict = false

        @Flag(help: "Write one JSON object per finding.")
        var json = false

        func run() async throws {
            var (findings, rules) = try RuleFolder.check(RuleDatabase.folder(folder))
            if let rules, let db {
                findings += try await RuleDatabase.run(at: db, signIn) { database in
                    try Self.found(rules, database)
                }
            }
            let console = Console.standard
            for finding in findings {
                try console.say(
                    json ? finding.document.extendedJSON(.relaxed) : finding.text.printable)
            }
            let errors = findings.count { $0.isError }
            if !json {
                let warnings = findings.count - errors
                try console.say(
                    "\(errors) error\(errors == 1 ? "" : "s"), "
                        + "\(warnings) warning\(warnings == 1 ? "" : "s")")
            }
            guard errors == 0, !strict || findings.isEmpty else { throw ExitCode(1) }
        }

        private static func found(
            _ rules: RuleFolder, _ database: RuleDatabase
        ) throws -> [RuleFinding] {
            var indexes: [Namespace: [String]] = [:]
            for namespace in try database.collections() {
                guard rules.namespaces.contains(namespace) else { continue }
                indexes[namespace] = try database.documents(
                    ["listIndexes": .string(namespace.collection)], on: namespace.database
                ).compactMap { $0["key"]?.documentValue?.keys.first }
            }
            guard let place = rules.customDataPlace else {
                return rules.findings(indexes: indexes, customFields: nil)
            }
            let (documents, _) = try database.sample(place)
            return rules.findings(
                indexes: indexes, customFields: documents.isEmpty ? nil : documents.flatMap(\.keys))
        }
    }
#endif
