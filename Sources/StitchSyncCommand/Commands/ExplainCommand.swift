#if CommandLine
    import ArgumentParser
    import BSONStore

    /// Shows how a query is answered.
    struct ExplainCommand: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "explain",
            abstract: "Show how a query is answered, and what that takes.",
            discussion: """
                The answer has the form of MongoDB's explain, with the figures of executionStats: \
                stages such as IXSCAN and COLLSCAN, and keys and documents that were examined.

                Example:
                  stitchsync explain shop.stitch shop.products '{"price": {"$lt": 5}}' \\
                    --sort '{"price": 1}'

                Exit code: 0, 1 when the store cannot be read or the filter is none, 64 for a wrong \
                command line.
                """)

        @OptionGroup var place: StoreArguments

        @Argument(
            help: "The filter; all documents without one.",
            transform: { try BSONDocument(extendedJSON: $0) })
        var filter: BSONDocument = [:]

        @Option(
            help: "The fields to sort by: 1 upwards, -1 downwards.",
            transform: { try BSONDocument(extendedJSON: $0) })
        var sort: BSONDocument?

        func run() async throws {
            let store = try place.open(readOnly: true)
            defer { store.close() }
            let options = try FindOptions(sort: try sort.map { try SortOrder($0) })
            let plan = try store.collection(place.namespace)
                .explain(filter, options: options, verbosity: .executionStats)
            try Console.standard.say(plan.extendedJSON(.relaxed))
        }
    }
#endif
