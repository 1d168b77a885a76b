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
                version field that StitchSync does not understand. It lists collections that \
                stopped because their remote is another one, and documents that are missing at the \
                remote; `resolve` handles both.

                Examples:
                  stitchsync status shop.stitch
                  stitchsync status shop.stitch --json

                Exit code: 0, 1 when the store cannot be read, 64 for a wrong command line.
                """)

        @Argument(help: "The store's file.", completion: .file())
        var store: String

        @Flag(help: "Write one JSON object per collection.")
        var json = false

        private static let titles = [
            "collection", "documents", "synced", "pending", "paused", "rejected",
        ]

        func run() async throws {
            let console = Console.standard
            let store = try StoreOpening.inspecting(at: store)
            defer { store.close() }
            let collections = try store.read { try $0.collections() }
            let engine = try SyncEngine(lookingAt: store)
            var table = TextTable(Self.titles)
            var remarks: [String] = []
            var objects: [BSONDocument] = []
            for namespace in collections {
                let collection = engine.collection(namespace)
                let count = try store.read { try $0.count(namespace) }
                let status = try await collection.status()
                table.append(
                    [namespace.description]
                        + [
                            count, status.synced, status.pending, status.paused,
                            status.rejected,
                        ].map(String.init))
                var reasons = BSONArray()
                for id in try await collection.pausedIDs {
                    let reason = try await collection.status(of: id).pauseReason
                    let text = reason?.message ?? "the reason is unknown"
                    remarks.append("paused: \(namespace) \(id.extendedJSON(.relaxed)): \(text)")
                    reasons.append(
                        .document([
                            "_id": id, "code": .string(reason?.code.rawValue ?? ""),
                            "reason": .string(text),
                        ]))
                }
                let missing = try await collection.unexplainedIDs
                if let stop = status.stop { remarks.append("stopped: \(namespace): \(stop)") }
                if !missing.isEmpty {
                    remarks.append(
                        "missing at the remote: \(namespace): \(missing.count.counted("document")), kept "
                            + "here and not uploaded (see `stitchsync resolve`)")
                }
                let foreign = try await collection.foreignVersionIDs
                remarks += foreign.map {
                    "foreign version: \(namespace) \($0.extendedJSON(.relaxed))"
                }
                objects.append([
                    "collection": .string(namespace.description), "documents": .int64(Int64(count)),
                    "synced": .int64(Int64(status.synced)),
                    "pending": .int64(Int64(status.pending)),
                    "toLook": .int64(Int64(status.toLook)), "paused": .array(reasons),
                    "rejected": .int64(Int64(status.rejected)),
                    "foreignVersion": .array(BSONArray(foreign)),
                    "missing": .array(BSONArray(missing)),
                    "stop": status.stop.map { .string("\($0)") } ?? .null,
                ])
            }
            if try engine.syncedCollections().isEmpty {
                remarks.append("never synced: no collection of this store was synced with a remote")
            }
            if json {
                return try objects.forEach { try console.say($0.extendedJSON(.relaxed)) }
            }
            for line in table.lines + remarks { try console.say(line) }
        }
    }
#endif
