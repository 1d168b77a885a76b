#if CommandLine
    import ArgumentParser
    import BSONStore
    import StitchSync

    /// The command that checks a store's file.
    struct VerifyCommand: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "verify",
            abstract: "Check a store's pages, documents, indexes, change feed and sync records.",
            discussion: """
                Reads the whole file and changes nothing. With --quarantine, damaged documents are \
                moved out of their collections, so that the rest can be read.

                Examples:
                  stitchsync verify shop.stitch
                  stitchsync verify shop.stitch --json

                Exit code: 0 when the file is sound, 1 when it has faults or cannot be read, 64 \
                for a wrong command line.
                """)

        @Argument(help: "The store's file.", completion: .file())
        var store: String

        @Flag(help: "Move damaged documents out of their collections.")
        var quarantine = false

        @Flag(help: "Write one JSON object.")
        var json = false

        func run() async throws {
            let store =
                try quarantine ? StoreOpening.existing(store) : StoreOpening.inspecting(at: store)
            defer { store.close() }
            let report = quarantine ? try store.quarantine() : try store.verify()
            let engine = try SyncEngine(lookingAt: store)
            let findings = try await engine.verify()
            let lines = report.faults.map(\.line) + findings.map { "sync: \($0)" }
            let isSound = lines.isEmpty
            if json {
                let document: BSONDocument = [
                    "sound": .bool(isSound), "documents": .int64(Int64(report.documentCount)),
                    "changes": .int64(Int64(report.changeCount)),
                    "faults": .array(BSONArray(lines.map(BSONValue.string))),
                ]
                try Console.standard.say(document.extendedJSON(.relaxed))
            } else {
                for line in lines { try Console.standard.say(line) }
                try Console.standard.say(
                    "\(report.documentCount.counted("document")) and "
                        + "\(report.changeCount.counted("change")) checked: "
                        + (isSound ? "nothing is wrong" : lines.count.counted("fault")))
            }
            guard isSound else { throw ExitCode.failure }
        }
    }

    extension StoreReport.Fault {
        /// The fault as one line.
        fileprivate var line: String {
            let id = documentID.map { " \($0.extendedJSON(.relaxed))" } ?? ""
            return "\(place)\(namespace.map { " \($0)" } ?? "")\(id): \(message)"
        }
    }
#endif
