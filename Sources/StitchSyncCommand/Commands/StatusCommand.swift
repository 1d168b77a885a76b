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

        func run() async throws {
            let console = Console.standard
            let store = try StoreOpening.inspecting(at: store)
            defer { store.close() }
            let engine = try SyncEngine(lookingAt: store)
            var reports: [CollectionReport] = []
            for namespace in try store.read({ try $0.collections() }) {
                reports.append(try await CollectionReport(of: namespace, store, engine))
            }
            if json {
                return try reports.forEach { try console.say($0.object.extendedJSON(.relaxed)) }
            }
            var table = TextTable(CollectionReport.titles)
            for report in reports { table.append(report.row) }
            var remarks = reports.flatMap(\.remarks)
            if try engine.syncedCollections().isEmpty {
                remarks.append("never synced: no collection of this store was synced with a remote")
            }
            for line in table.lines + remarks { try console.say(line) }
        }
    }

    /// What `status` reports of one collection.
    private struct CollectionReport {
        let namespace: Namespace
        let count: Int
        let status: SyncStatus
        /// The paused documents with the codes and texts of the reasons.
        let paused: [(id: BSONValue, code: String, text: String)]
        /// The documents that are missing at the remote.
        let missing: [BSONValue]
        /// The documents with a foreign version.
        let foreign: [BSONValue]

        init(of namespace: Namespace, _ store: DocumentStore, _ engine: SyncEngine) async throws {
            let collection = engine.collection(namespace)
            self.namespace = namespace
            count = try store.read { try $0.count(namespace) }
            status = try await collection.status()
            var paused: [(id: BSONValue, code: String, text: String)] = []
            for id in try await collection.pausedIDs {
                let reason = try await collection.status(of: id).pauseReason
                paused.append(
                    (id, reason?.code.rawValue ?? "", reason?.message ?? "the reason is unknown"))
            }
            self.paused = paused
            missing = try await collection.unexplainedIDs
            foreign = try await collection.foreignVersionIDs
        }

        static let titles = ["collection", "documents", "synced", "pending", "paused", "rejected"]

        /// The line of the table.
        var row: [String] {
            [namespace.description]
                + [count, status.synced, status.pending, status.paused, status.rejected]
                .map(String.init)
        }

        /// The lines below the table.
        var remarks: [String] {
            var remarks = paused.map { id, _, text in
                "paused: \(namespace) \(id.extendedJSON(.relaxed)): \(text)"
            }
            if let stop = status.stop { remarks.append("stopped: \(namespace): \(stop)") }
            if !missing.isEmpty {
                remarks.append(
                    "missing at the remote: \(namespace): \(missing.count.counted("document")), kept "
                        + "here and not uploaded (see `stitchsync resolve`)")
            }
            return remarks
                + foreign.map { "foreign version: \(namespace) \($0.extendedJSON(.relaxed))" }
        }

        /// The JSON object.
        var object: BSONDocument {
            let reasons = paused.map { id, code, text in
                BSONValue.document(["_id": id, "code": .string(code), "reason": .string(text)])
            }
            return [
                "collection": .string(namespace.description), "documents": .int64(Int64(count)),
                "synced": .int64(Int64(status.synced)),
                "pending": .int64(Int64(status.pending)),
                "toLook": .int64(Int64(status.toLook)), "paused": .array(BSONArray(reasons)),
                "rejected": .int64(Int64(status.rejected)),
                "foreignVersion": .array(BSONArray(foreign)),
                "missing": .array(BSONArray(missing)),
                "stop": status.stop.map { .string("\($0)") } ?? .null,
            ]
        }
    }
#endif
