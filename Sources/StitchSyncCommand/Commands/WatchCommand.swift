#if CommandLine
    import ArgumentParser
    import BSONStore

    /// The command that follows the changes of a store or a server.
    struct WatchCommand: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "watch",
            abstract: "Show changes of a store or a server as they are committed.",
            discussion: """
                Prints one JSON object per line: the position in the feed, the kind of change, the \
                collection, the _id and the document after the change. The store must keep a \
                change feed: `serve` turns it on in its file, and `sync` in the remote's file. Of \
                a server the position is the token of its change stream; without a collection \
                the command needs a user who may read all databases.

                Examples:
                  stitchsync watch remote.stitch shop.products
                  stitchsync watch remote.stitch --after 0 --limit 10
                  stitchsync watch stitchsync://localhost:27017 shop.products

                Exit code: 0 at --limit or after SIGINT or SIGTERM, 1 when the store keeps no \
                change feed, when its feed no longer reaches back to --after, or when the server \
                cannot be read, 64 for a wrong command line.
                """)

        @Argument(
            help: "The store's file, or a server, stitchsync://… or mongodb://….",
            completion: .file())
        var store: String

        @Argument(
            help: "The collection as database.collection; all without it.",
            transform: { try Namespace(parsing: $0) })
        var namespace: Namespace?

        @Option(
            help: """
                Start after this position, of a file 0 for the oldest kept; by default after the \
                newest.
                """)
        var after: String?

        @Option(help: "Stop after this number of changes.")
        var limit: Int?

        @Flag(help: "Write one field per line.")
        var pretty = false

        @OptionGroup var signIn: SignInArguments

        func validate() throws {
            guard limit ?? 1 > 0 else { throw ValidationError("--limit is at least 1") }
            guard let after else { return }
            guard (Int64(after) == nil) == SessionRemote.isServer(store) else {
                throw ValidationError(
                    SessionRemote.isServer(store)
                        ? "--after takes a position that watch printed of this server, not \(after)"
                        : "--after takes the number of a position, not \(after)")
            }
        }

        func run() async throws {
            guard !SessionRemote.isServer(store) else { return try await watchServer() }
            try signIn.check(file: store)
            let opened = try StoreOpening.opened(store, readOnly: true)
            defer { opened.close() }
            let start: Int64 =
                switch after.flatMap({ Int64($0) }) {
                case 0?: try opened.oldestChangePosition
                case let after?: after
                case nil: try opened.changePosition
                }
            let (path, namespace, limit, pretty) = (store, namespace, limit, pretty)
            try await withThrowingTaskGroup(of: Void.self) { group in
                group.addTask {
                    do {
                        var count = 0
                        for try await batch in opened.followChanges(after: start, in: namespace) {
                            for change in batch.changes {
                                try Console.standard.say(
                                    change.line.extendedJSON(.relaxed, pretty: pretty))
                                count += 1
                                if count == limit { return }
                            }
                        }
                    } catch let error as StoreError {
                        throw CommandError("\(path): \(error)")
                    }
                }
                group.addTask { for await _ in StopSignals.stream() { break } }
                defer { group.cancelAll() }
                try await group.next()
            }
        }

        private func watchServer() async throws {
            let stream = ServerChanges(of: namespace, after: after)
            let (store, signIn, limit, pretty) = (store, signIn, limit, pretty)
            let isStopped = Locked(false)
            try await withThrowingTaskGroup(of: Void.self) { group in
                group.addTask {
                    try await DocumentSource.run(at: store, signIn) { source in
                        var count = 0
                        try stream.forEach(
                            source, until: { isStopped.withLock { $0 } || count == limit }
                        ) { change in
                            try Console.standard.say(change.extendedJSON(.relaxed, pretty: pretty))
                            count += 1
                        }
                    }
                }
                group.addTask {
                    for await _ in StopSignals.stream() { break }
                    // The other task looks at it after each wait.
                    isStopped.withLock { $0 = true }
                }
                defer { group.cancelAll() }
                try await group.next()
            }
        }
    }

    extension StoreChange {
        /// The change as an object.
        fileprivate var line: BSONDocument {
            var document: BSONDocument = [
                "position": .int64(position), "change": .string("\(kind)"),
                "collection": .string(namespace.description),
            ]
            if let id = (after ?? before)?["_id"] { document.append("_id", id) }
            if let after { document.append("document", .document(after)) }
            return document
        }
    }
#endif
