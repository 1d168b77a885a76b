#if CommandLine
    import ArgumentParser
    import BSONStore

    /// The command that shows the statistics of a collection.
    struct StatsCommand: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "stats",
            abstract: "Show the statistics of a collection.",
            discussion: """
                The reply to MongoDB's command collStats: sizes in bytes, of the documents and of \
                each index.

                Example:
                  stitchsync stats shop.stitch shop.products

                Exit code: 0, 1 when the store or server cannot be read, 64 for a wrong command \
                line.
                """)

        @OptionGroup var place: StoreArguments

        @OptionGroup var signIn: SignInArguments

        @Flag(help: "Write the JSON object on one line.")
        var json = false

        func run() async throws {
            let namespace = place.namespace
            let listing = try await DocumentSource.run(at: place.store, signIn) { source in
                try CollectionListing(namespace, source)
            }
            try Console.standard.say(
                listing.statistics.extendedJSON(.relaxed, pretty: !json))
        }
    }
#endif
