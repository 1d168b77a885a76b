#if CommandLine
    import ArgumentParser
    import BSONStore

    /// The command that follows a store's change feed.
    struct WatchCommand: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "watch",
            abstract: "Show changes as they are committed, by this process or others.",
            discussion: """
                One JSON object a line: the position in the feed, what happened, the collection, the _id \
                and the document after the change. The store must keep its changes, as one that \
                `serve` has opened does.

                Examples:
                  stitchsync watch remote.stitch shop.products
                  stitchsync watch remote.stitch --after 0 --limit 10

                Exit code: 0 at --limit or after SIGINT or SIGTERM, 1 when the store keeps no changes, or \
                not those from --after on, 64 for a wrong command line.
                """)

        @Argument(help: "The store's file.", completion: .file())
        var store: String

        @Argument(
            help: "The collection as database.collection; all without one.",
            transform: { try Namespace(parsing: $0) })
        var namespace: Namespace?

        @Option(help: "Begin after this position, 0 for the oldest; else with what comes.")
        var after: Int64?

        @Option(help: "End after so many changes.")
        var limit: Int?

        func validate() throws {
            guard limit ?? 1 > 0 else { throw ValidationError("--limit is at least 1") }
        }

        func run() async throws {
            let opened = try DocumentStore.opened(store, readOnly: true)
            defer { opened.close() }
            let start = try after ?? opened.changePosition
            let (path, namespace, limit) = (store, namespace, limit)
            try await withThrowingTaskGroup(of: Void.self) { group in
                group.addTask {
                    do {
                        try await Self.follow(opened, after: start, namespace, limit: limit)
                    } catch let error as StoreError {
                        throw CommandError("\(path): \(error)")
                    }
                }
                group.addTask { for await _ in StopSignals.stream() { break } }
                defer { group.cancelAll() }
                try await group.next()
            }
        }

        private static func follow(
            _ store: DocumentStore, after start: Int64, _ namespace: Namespace?, limit: Int?
        ) async throws {
            var count = 0
            for try await batch in store.followChanges(after: start, in: namespace) {
                for change in batch.changes {
                    try Console.standard.say(change.line)
                    count += 1
                    if count == limit { return }
                }
            }
        }
    }

    extension StoreChange {
        /// The change as one JSON object.
        fileprivate var line: String {
            var document: BSONDocument = [
                "position": .int64(position), "change": .string("\(kind)"),
                "collection": .string(namespace.description),
            ]
            if let id = (after ?? before)?["_id"] { document.append("_id", id) }
            if let after { document.append("document", .document(after)) }
            return document.extendedJSON(.relaxed)
        }
    }
#endif
