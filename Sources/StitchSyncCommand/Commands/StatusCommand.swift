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

                Of a server or gateway it shows the numbers of documents, and for an administrator \
                how many devices are connected, how many writes were denied, and how many \
                conflicts the devices shared.

                Examples:
                  stitchsync status shop.stitch
                  stitchsync status shop.stitch --json
                  stitchsync status stitchsync://admin@localhost:27017

                Exit code: 0, 1 when the store or server cannot be read, 64 for a wrong command \
                line.
                """)

        @Argument(
            help: "The store's file, or a server, stitchsync://… or mongodb://….",
            completion: .file())
        var store: String

        @OptionGroup var signIn: SignInArguments

        @Flag(help: "Write one JSON object per collection, and one of the server.")
        var json = false

        func run() async throws {
            guard !SessionRemote.isServer(store) else { return try await showServer() }
            try signIn.check(file: store)
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

        private func showServer() async throws {
            #if Server
                let name = HiddenPassword.hidden(in: store)
                let report = try await DocumentSource.run(at: store, signIn) { source in
                    try ServerReport(of: source, at: name)
                }
                let console = Console.standard
                if json {
                    return try report.objects.forEach {
                        try console.say($0.extendedJSON(.relaxed))
                    }
                }
                for line in report.lines { try console.say(line.printable) }
            #else
                throw SessionRemote.lacksServers
            #endif
        }
    }
#endif
