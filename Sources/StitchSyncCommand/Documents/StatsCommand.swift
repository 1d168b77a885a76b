#if CommandLine
    import ArgumentParser
    import BSONStore

    /// The command that shows the statistics of a collection or of databases.
    struct StatsCommand: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "stats",
            abstract: "Show the statistics of a collection or of databases.",
            discussion: """
                The reply to MongoDB's command collStats: sizes in bytes, of the documents and of \
                each index. Of a database, and without one of each database, the reply to dbStats.

                Examples:
                  stitchsync stats shop.stitch shop.products
                  stitchsync stats shop.stitch

                Exit code: 0, 1 when the store or server cannot be read, 64 for a wrong command \
                line.
                """)

        @OptionGroup var place: DatabaseArguments

        @OptionGroup var signIn: SignInArguments

        @Flag(help: "Write each JSON object on one line.")
        var json = false

        func run() async throws {
            let target = try place.target()
            let objects = try await DocumentSource.run(at: place.store, signIn) { source in
                switch target {
                case .collection(let namespace):
                    [try CollectionListing(namespace, source).statistics]
                case .database(let database): [try source.run(["dbStats": 1], on: database)]
                case .all:
                    try CollectionListing.databases(source).map {
                        try source.run(["dbStats": 1], on: $0)
                    }
                }
            }
            for object in objects {
                try Console.standard.say(object.extendedJSON(.relaxed, pretty: !json))
            }
        }
    }
#endif
