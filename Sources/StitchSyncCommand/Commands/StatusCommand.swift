#if CommandLine
    import ArgumentParser
    import BSONStore
    import StitchSync

    /// The command that shows the contents and sync state of a store.
    struct StatusCommand: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "status",
            abstract: "Show what a store holds and what is pending.",
            discussion: """
                For each collection: the numbers of documents, of synced documents, of documents \
                with a change that the remote has not confirmed, and of rejected writes (see \
                `retry`); also which documents are paused, and which have a foreign version: a \
                version field that StitchSync does not understand. Lines below the table name up \
                to ten documents of each kind, with the command that helps. It lists collections \
                that stopped because their remote is another one, and documents that are missing \
                at the remote; `resolve` handles both. More synced than stored documents: a \
                document that was deleted here counts as synced until the delete was sent, and the \
                _id of a rejected insert stays synced.

                Examples:
                  stitchsync status shop.stitch
                  stitchsync status shop.stitch --json

                Exit code: 0, 1 when the store cannot be read, 64 for a wrong command line.
                """)

        @Argument(help: "The store's file.", completion: .file())
        var store: String

        @Flag(help: "Write one JSON object per collection.")
        var json = false

        func run() async throws {
            let console = Console.standard
            let (path, store) = (store, try StoreOpening.inspecting(at: store))
            defer { store.close() }
            let engine = try SyncEngine(lookingAt: store)
            var reports: [CollectionReport] = []
            for namespace in try store.read({ try $0.collections() }) {
                reports.append(try await CollectionReport(of: namespace, store, engine, at: path))
            }
            if json {
                return try reports.forEach { try console.say($0.object.extendedJSON(.relaxed)) }
            }
            var table = TextTable(CollectionReport.titles)
            for report in reports { table.append(report.row) }
            var remarks = reports.flatMap(\.remarks)
            if try engine.syncedCollections().isEmpty {
                remarks.append(.neverSynced)
            }
            for line in table.lines + remarks.map(\.line) { try console.say(line) }
        }
    }
#endif
