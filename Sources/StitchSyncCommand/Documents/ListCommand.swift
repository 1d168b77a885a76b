#if CommandLine
    import ArgumentParser
    import BSONStore

    /// The command that lists databases and collections.
    struct ListCommand: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "ls",
            abstract: "List the databases and collections of a store file or a server.",
            discussion: """
                For each collection: the numbers of documents and of indexes, the size of the \
                documents in bytes, and whether it is synced, which only a file knows. The \
                databases of the server itself (admin, config, local and stitchsync) are left \
                out, unless --all is given or one is named.

                Examples:
                  stitchsync ls shop.stitch
                  stitchsync ls stitchsync://localhost:27017 shop --json

                Exit code: 0, 1 when the store or server cannot be read, 64 for a wrong command \
                line.
                """)

        @Argument(
            help: "The store's file, or a server, stitchsync://… or mongodb://….",
            completion: .file())
        var store: String

        @Argument(help: "The database, or one collection as database.collection; all without one.")
        var database: String?

        @OptionGroup var signIn: SignInArguments

        @Flag(help: "List the server's own databases, too.")
        var all = false

        @Flag(help: "Write one JSON object per collection.")
        var json = false

        func run() async throws {
            let (store, name, all) = (store, database, all)
            let database = name.map { String($0.prefix { $0 != "." }) }
            var listings = try await DocumentSource.run(at: store, signIn) { source in
                try CollectionListing.all(source, in: database, withSystem: all)
            }
            if let name, name.contains(".") {
                listings.removeAll { !$0.namespace.description.hasSameBytes(as: name) }
                guard !listings.isEmpty else {
                    throw CommandError(
                        "\(HiddenPassword.hidden(in: store)) has no collection \(name)")
                }
            }
            let console = Console.standard
            if json {
                return try listings.forEach { try console.say($0.object.extendedJSON(.relaxed)) }
            }
            var table = TextTable(CollectionListing.titles)
            for listing in listings { table.append(listing.row) }
            for line in table.lines { try console.say(line.printable) }
        }
    }
#endif
