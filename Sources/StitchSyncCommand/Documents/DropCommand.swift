#if CommandLine
    import ArgumentParser
    import BSONStore

    /// The command that drops a collection or a database.
    struct DropCommand: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "drop",
            abstract: "Drop a collection, or a database with all its collections.",
            discussion: """
                Documents and indexes are gone. Asks on a terminal; elsewhere --yes is needed. A \
                synced collection is not dropped, nor a database that has one.

                Examples:
                  stitchsync drop shop.stitch shop.old --yes
                  stitchsync drop stitchsync://localhost:27017 shop --yes

                Exit code: 0, 1 when nothing was dropped, 64 for a wrong command line.
                """)

        @OptionGroup var place: DatabaseArguments

        @Flag(help: "Do not ask.")
        var yes = false

        @OptionGroup var signIn: SignInArguments

        func validate() throws {
            guard place.name != nil else {
                throw ValidationError("name a collection as database.collection, or a database")
            }
        }

        func run() async throws {
            let (target, name) = (try place.target(), place.name ?? "")
            try confirm(target, name)
            try await DocumentSource.run(at: place.store, signIn) { source in
                switch target {
                case .collection(let namespace):
                    try source.checkIsFree(namespace, to: "drop it")
                    _ = try source.run(
                        ["drop": .string(namespace.collection)], on: namespace.database)
                case .database(let database):
                    let listings = try CollectionListing.all(source, in: database)
                    guard !listings.isEmpty else {
                        throw CommandError("there is no database \(database) to drop")
                    }
                    // A server's reply would name only the first one, and after it had begun.
                    for listing in listings {
                        try source.checkIsFree(listing.namespace, to: "drop the database")
                    }
                    _ = try source.run(["dropDatabase": 1], on: database)
                case .all: break
                }
            }
            try Console.standard.say("\(name): dropped")
        }

        private func confirm(_ target: DatabaseArguments.Target, _ name: String) throws {
            guard !yes else { return }
            guard Descriptor.input.isTerminal else {
                throw CommandError(
                    "\(name) was not dropped; add --yes to drop it without a question")
            }
            let content = if case .database = target { "collections" } else { "documents" }
            try Console.standard.error.write(
                Array("Drop \(name) with all its \(content)? [y/N] ".utf8))
            guard let answer = readLine()?.lowercased(), ["y", "yes"].contains(answer) else {
                throw CommandError("\(name) was not dropped")
            }
        }
    }
#endif
