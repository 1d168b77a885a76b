#if CommandLine
    import ArgumentParser
    import BSONStore
    import StitchSync

    /// Tells what a store holds and how far it is in step.
    struct StatusCommand: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "status",
            abstract: "Tell what a store holds and what waits to be sent.",
            discussion: """
                For each collection: its documents, how many of them are kept in step with a remote, \
                how many have a change that the remote has not confirmed, and which are paused.

                Example:
                  stitchsync status shop.stitch
                """)

        @Argument(help: "The store's file.", completion: .file())
        var store: String

        func run() async throws {
            let console = Console.standard
            // Opened for reading first, so that a file that is not there stays so.
            let reader = try DocumentStore(at: .file(store), options: .init(readOnly: true))
            let collections = try reader.read { try $0.collections() }
            reader.close()
            let store = try DocumentStore(at: .file(store))
            defer { store.close() }
            let engine = try SyncEngine(store: store, remote: try InProcessRemote(at: .inMemory))
            var table = TextTable(["collection", "documents", "synced", "pending", "paused"])
            var paused: [String] = []
            for namespace in collections {
                let collection = engine.collection(namespace)
                let count = try store.read { try $0.count(namespace) }
                let status = try await collection.status()
                table.append(
                    [namespace.description]
                        + [count, status.synced, status.pending, status.paused].map(String.init))
                for id in try await collection.pausedIDs {
                    let reason = try await collection.pauseReason(of: id)
                    paused.append(
                        "paused: \(namespace) \(id.extendedJSON(.relaxed)): "
                            + (reason?.message ?? "no reason is known"))
                }
            }
            for line in table.lines + paused { try console.say(line) }
        }
    }
#endif
