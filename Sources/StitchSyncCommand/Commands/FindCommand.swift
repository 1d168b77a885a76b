#if CommandLine
    import ArgumentParser
    import BSONStore

    /// The command that shows the documents matching a filter.
    struct FindCommand: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "find",
            abstract: "Show documents that pass a filter, one a line.",
            discussion: """
                Filter, sort and projection are MongoDB's, as Extended JSON. The documents come as \
                canonical Extended JSON, which keeps every type; --relaxed is easier to read.

                Example:
                  stitchsync find shop.stitch shop.products '{"stock": {"$lt": 5}}' \\
                    --sort '{"price": -1}' --projection '{"name": 1}' --limit 10 --relaxed

                Exit code: 0 also when there is no such document, 1 when the store cannot be read or \
                the filter is none, 64 for a wrong command line.
                """)

        @OptionGroup var place: StoreArguments

        @OptionGroup var selection: FilterArguments

        @OptionGroup var sorting: SortArguments

        @Option(
            help: "The fields to show: 1 with, 0 without.",
            transform: { try BSONDocument(argument: $0) })
        var projection: BSONDocument?

        @Option(help: "How many documents to leave out at the beginning.")
        var skip = 0

        @Option(help: "How many documents to show at most; 0 for all.")
        var limit = 0

        @Flag(help: "Write relaxed Extended JSON.")
        var relaxed = false

        @Flag(help: "Write one JSON array, not one document a line.")
        var json = false

        func run() async throws {
            let options = try FindOptions(
                sort: sorting.order(), skip: skip, limit: limit,
                projection: try projection.map { try Projection($0) })
            let store = try place.open(readOnly: true)
            defer { store.close() }
            var lines = DocumentLines(
                to: Console.standard.output, isRelaxed: relaxed, isArray: json)
            try store.collection(place.namespace).forEach(selection.filter, options: options) {
                document in
                try lines.append(document)
            }
            try lines.finish()
        }
    }
#endif
