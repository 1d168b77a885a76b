#if CommandLine
    import ArgumentParser
    import BSONStore

    /// The command that shows the documents matching a filter.
    struct FindCommand: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "find",
            abstract: "Show documents that match a filter, one per line.",
            discussion: """
                Filter, sort and projection are MongoDB's, in Extended JSON or as literals of \
                MongoDB's shell, such as {at: {$gt: ISODate('2024-05-01')}}. On a \
                terminal the documents are shown as relaxed Extended JSON, which is easy to read; \
                a file or a pipe gets canonical Extended JSON, which keeps every type. --relaxed \
                and --canonical choose one; --pretty is easier still.

                Examples:
                  stitchsync find shop.stitch shop.products '{"stock": {"$lt": 5}}' \\
                    --sort '{"price": -1}' --projection '{"name": 1}' --limit 10 --relaxed
                  stitchsync find stitchsync://localhost:27017 shop.products '{stock: 0}' --table

                Exit code: 0 even when no document matches, 1 when the store or server cannot be read or the \
                filter is invalid, 64 for a wrong command line.
                """)

        @OptionGroup var place: StoreArguments

        @OptionGroup var selection: FilterArguments

        @OptionGroup var sorting: SortArguments

        @Option(
            help: "The fields to show (1) or to leave out (0).",
            transform: { try ExtendedJSONArgument.document($0) })
        var projection: BSONDocument?

        @Option(help: "The number of documents to skip.")
        var skip = 0

        @Option(help: "The maximum number of documents to show; 0 for all.")
        var limit = 0

        @OptionGroup var output: OutputArguments

        @OptionGroup var signIn: SignInArguments

        func run() async throws {
            guard !place.isServer else { return try await runAtServer() }
            try signIn.check(file: place.store)
            let store = try place.open(readOnly: true)
            defer { store.close() }
            var lines = output.lines
            let query = store.collection(place.namespace).find(selection.filter)
                .sort(sorting.sort ?? [:]).skip(skip).project(projection ?? [:])
            try (limit == 0 ? query : query.limit(limit))
                .forEach { document in try lines.append(document) }
            try lines.finish()
        }

        private func runAtServer() async throws {
            guard skip >= 0, limit >= 0 else {
                throw CommandError("--skip and --limit are 0 or more")
            }
            var command: BSONDocument = [
                "find": .string(place.namespace.collection), "filter": .document(selection.filter),
                "skip": .int64(Int64(skip)), "limit": .int64(Int64(limit)),
            ]
            if let sort = sorting.sort { command.append("sort", .document(sort)) }
            if let projection { command.append("projection", .document(projection)) }
            let (request, database, output) = (command, place.namespace.database, output)
            try await DocumentSource.run(at: place.store, signIn) { source in
                var lines = output.lines
                try source.forEach(request, on: database) { try lines.append($0) }
                try lines.finish()
            }
        }
    }
#endif
