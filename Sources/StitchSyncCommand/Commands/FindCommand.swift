#if CommandLine
    import ArgumentParser
    import BSONStore

    /// The command that shows the documents matching a filter.
    struct FindCommand: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "find",
            abstract: "Show documents that match a filter, one per line.",
            discussion: """
                Filter, sort and projection are MongoDB's, in Extended JSON. The documents are \
                shown as canonical Extended JSON, which keeps every type; --relaxed is easier to \
                read, and --pretty easier still.

                Example:
                  stitchsync find shop.stitch shop.products '{"stock": {"$lt": 5}}' \\
                    --sort '{"price": -1}' --projection '{"name": 1}' --limit 10 --relaxed

                Exit code: 0 even when no document matches, 1 when the store cannot be read or the \
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

        @Flag(help: "Write relaxed Extended JSON.")
        var relaxed = false

        @Flag(help: "Write one field per line; relaxed, unless --json is given.")
        var pretty = false

        @Flag(help: "Write one JSON array, not one document per line.")
        var json = false

        func run() async throws {
            let store = try place.open(readOnly: true)
            defer { store.close() }
            var lines = DocumentLines(
                to: Console.standard.output, isRelaxed: relaxed || pretty && !json, isArray: json,
                isPretty: pretty)
            try store.collection(place.namespace).find(selection.filter)
                .sort(sorting.sort ?? [:]).skip(skip).limit(limit).project(projection ?? [:])
                .forEach { document in try lines.append(document) }
            try lines.finish()
        }
    }
#endif
