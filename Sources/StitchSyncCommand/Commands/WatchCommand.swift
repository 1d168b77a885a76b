#if CommandLine
    import ArgumentParser
    import BSONStore

    /// The command that follows a store's change feed.
    struct WatchCommand: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "watch",
            abstract: "Show changes of a store as they are committed.",
            discussion: """
                Prints one JSON object per line: the position in the feed, the kind of change, the \
                collection, the _id and the document after the change. The store must keep a \
                change feed: `serve` turns it on in its file, and `sync` in the remote's file.

                Examples:
                  stitchsync watch remote.stitch shop.products
                  stitchsync watch remote.stitch --after 0 --limit 10

                Exit code: 0 at --limit or after SIGINT or SIGTERM, 1 when the store keeps no \
                change feed, or when its feed no longer reaches back to --after, 64 for a wrong \
                command line.
                """)

        @Argument(help: "The store's file.", completion: .file())
        var store: String

        @Argument(
            help: "The collection as database.collection; all without it.",
            transform: { try Namespace(parsing: $0) })
        var namespace: Namespace?

        @Option(
            help: "Start after this position, 0 for the oldest kept; by default after the newest.")
        var after: Int64?

        @Option(help: "Stop after this number of changes.")
        var limit: Int?

        func validate() throws {
            guard limit ?? 1 > 0 else { throw ValidationError("--limit is at least 1") }
        }

        func run() async throws {
            let opened = try StoreOpening.opened(store, readOnly: true)
            defer { opened.close() }
            let start: Int64 =
                switch after {
                case 0?: try opened.oldestChangePosition
                case let after?: after
                case nil: try opened.changePosition
                }
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
