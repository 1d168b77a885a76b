#if CommandLine
    import ArgumentParser
    import BSONStore

    /// The command that shows the plan and cost of a query.
    struct ExplainCommand: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "explain",
            abstract: "Show the plan and the cost of a query.",
            discussion: """
                The output has the format of MongoDB's explain with the verbosity executionStats: \
                stages such as IXSCAN and COLLSCAN, and the numbers of examined keys and \
                documents.

                Example:
                  stitchsync explain shop.stitch shop.products '{"price": {"$lt": 5}}' \\
                    --sort '{"price": 1}'

                Exit code: 0, 1 when the store cannot be read or the filter is invalid, 64 for a \
                wrong command line.
                """)

        @OptionGroup var place: StoreFileArguments

        @OptionGroup var selection: FilterArguments

        @OptionGroup var sorting: SortArguments

        @Flag(help: "Write the JSON object on one line.")
        var json = false

        func run() async throws {
            let store = try place.open(readOnly: true)
            defer { store.close() }
            let plan = try store.collection(place.namespace)
                .find(selection.filter).sort(sorting.sort ?? [:]).explain(.executionStats)
            try Console.standard.say(plan.extendedJSON(.relaxed, pretty: !json))
        }
    }
#endif
