#if CommandLine
    import ArgumentParser
    import BSONStore

    /// The group of the commands for indexes.
    struct IndexCommand: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "index",
            abstract: "List, create and drop the indexes of a collection.",
            discussion: """
                Examples:
                  stitchsync index list shop.stitch shop.products
                  stitchsync index create shop.stitch shop.products '{price: 1}'

                Exit code: 0, 1 when a command failed, 64 for a wrong command line.
                """,
            subcommands: [
                IndexListCommand.self, IndexCreateCommand.self, IndexDropCommand.self,
            ])
    }

    /// The command that lists indexes.
    struct IndexListCommand: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "list",
            abstract: "List the indexes of a collection.",
            discussion: """
                Example:
                  stitchsync index list shop.stitch shop.products

                Exit code: 0, 1 when the collection does not exist, 64 for a wrong command line.
                """)

        @OptionGroup var place: StoreArguments

        @OptionGroup var signIn: SignInArguments

        @Flag(help: "Write one JSON object per index.")
        var json = false

        func run() async throws {
            let namespace = place.namespace
            let indexes = try await DocumentSource.run(at: place.store, signIn) { source in
                try source.documents(
                    ["listIndexes": .string(namespace.collection)], on: namespace.database)
            }
            let console = Console.standard
            if json {
                return try indexes.forEach { try console.say($0.extendedJSON(.relaxed)) }
            }
            var table = TextTable(["index", "keys", "options"])
            for index in indexes {
                let options = index.leavingOut("v").leavingOut("key").leavingOut("name")
                table.append([
                    index.text("name"), index.document("key").extendedJSON(.relaxed),
                    options.isEmpty ? "-" : options.extendedJSON(.relaxed),
                ])
            }
            for line in table.lines { try console.say(line.printable) }
        }
    }

    /// The command that creates an index.
    struct IndexCreateCommand: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "create",
            abstract: "Create an index.",
            discussion: """
                Creating an index that exists already changes nothing.

                Examples:
                  stitchsync index create shop.stitch shop.products '{price: 1, name: -1}'
                  stitchsync index create shop.stitch shop.users '{mail: 1}' --unique

                Exit code: 0, 1 when the index was refused, 64 for a wrong command line.
                """)

        @OptionGroup var place: StoreArguments

        @Argument(
            help: "The keys: 1 ascending, -1 descending.",
            transform: { try ExtendedJSONArgument.document($0) })
        var keys: BSONDocument

        @Option(help: "The index's name; by default that of MongoDB, such as price_1.")
        var name: String?

        @Flag(help: "Refuse documents with the same keys.")
        var unique = false

        @Option(
            help: "Further options of MongoDB, such as {expireAfterSeconds: 60}.",
            transform: { try ExtendedJSONArgument.document($0) })
        var options: BSONDocument = [:]

        @OptionGroup var signIn: SignInArguments

        func run() async throws {
            let namespace = place.namespace
            let usual = keys.map { name, value in
                "\(name)_\(value.stringValue ?? value.extendedJSON(.relaxed))"
            }.joined(separator: "_")
            let name = name ?? usual
            var index: BSONDocument = ["key": .document(keys), "name": .string(name)]
            if unique { index.append("unique", .bool(true)) }
            for (name, value) in options { index.append(name, value) }
            let definition = index
            try await DocumentSource.run(at: place.store, signIn, creates: true) { source in
                _ = try source.run(
                    [
                        "createIndexes": .string(namespace.collection),
                        "indexes": [.document(definition)],
                    ], on: namespace.database)
            }
            try Console.standard.say("\(namespace): the index \(name) exists")
        }
    }

    /// The command that drops an index.
    struct IndexDropCommand: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "drop",
            abstract: "Drop an index.",
            discussion: """
                Example:
                  stitchsync index drop shop.stitch shop.products price_1

                Exit code: 0, 1 when there is no such index, 64 for a wrong command line.
                """)

        @OptionGroup var place: StoreArguments

        @Argument(help: "The index's name.")
        var name: String

        @OptionGroup var signIn: SignInArguments

        func run() async throws {
            let (namespace, name) = (place.namespace, name)
            try await DocumentSource.run(at: place.store, signIn) { source in
                _ = try source.run(
                    ["dropIndexes": .string(namespace.collection), "index": .string(name)],
                    on: namespace.database)
            }
            try Console.standard.say("\(namespace): the index \(name) was dropped")
        }
    }
#endif
