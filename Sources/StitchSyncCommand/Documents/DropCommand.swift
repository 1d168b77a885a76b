#if CommandLine
    import ArgumentParser
    import BSONStore

    /// The command that drops a collection.
    struct DropCommand: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "drop",
            abstract: "Drop a collection, with its documents and indexes.",
            discussion: """
                Asks on a terminal; elsewhere --yes is needed.

                Example:
                  stitchsync drop shop.stitch shop.old --yes

                Exit code: 0, 1 when the collection was not dropped, 64 for a wrong command line.
                """)

        @OptionGroup var place: StoreArguments

        @Flag(help: "Do not ask.")
        var yes = false

        @OptionGroup var signIn: SignInArguments

        func run() async throws {
            let namespace = place.namespace
            try confirm()
            try await DocumentSource.run(at: place.store, signIn) { source in
                _ = try source.run(
                    ["drop": .string(namespace.collection)], on: namespace.database)
            }
            try Console.standard.say("\(namespace): dropped")
        }

        private func confirm() throws {
            guard !yes else { return }
            guard Descriptor.input.isTerminal else {
                throw CommandError(
                    "\(place.namespace) was not dropped; add --yes to drop it without a question")
            }
            try Console.standard.error.write(
                Array("Drop \(place.namespace) with all its documents? [y/N] ".utf8))
            guard let answer = readLine()?.lowercased(), ["y", "yes"].contains(answer) else {
                throw CommandError("\(place.namespace) was not dropped")
            }
        }
    }
#endif
