#if CommandLine
    import ArgumentParser
    import BSONStore

    /// The command that counts documents.
    struct CountCommand: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "count",
            abstract: "Count the documents that match a filter.",
            discussion: """
                Examples:
                  stitchsync count shop.stitch shop.products
                  stitchsync count stitchsync://localhost:27017 shop.products '{stock: {$lt: 5}}'

                Exit code: 0, 1 when the store or server cannot be read or the filter is invalid, \
                64 for a wrong command line.
                """)

        @OptionGroup var place: StoreArguments

        @OptionGroup var selection: FilterArguments

        @Option(
            help: "The filter, as the argument.",
            transform: { try ExtendedJSONArgument.document($0) })
        var query: BSONDocument?

        @OptionGroup var signIn: SignInArguments

        @Flag(help: "Write one JSON object.")
        var json = false

        func validate() throws {
            guard query == nil || selection.filter.isEmpty else {
                throw ValidationError("--query and a filter exclude each other; give one of them")
            }
        }

        func run() async throws {
            let (namespace, filter) = (place.namespace, query ?? selection.filter)
            let count = try await DocumentSource.run(at: place.store, signIn) { source in
                let stages: [BSONValue] = [
                    ["$match": .document(filter)], ["$count": "n"],
                ]
                let found = try source.documents(
                    [
                        "aggregate": .string(namespace.collection),
                        "pipeline": .array(BSONArray(stages)), "cursor": [:],
                    ], on: namespace.database)
                return Int(found.first?.number("n") ?? 0)
            }
            let object: BSONDocument = ["count": .int64(Int64(count))]
            try Console.standard.say(json ? object.extendedJSON(.relaxed) : "\(count)")
        }
    }
#endif
