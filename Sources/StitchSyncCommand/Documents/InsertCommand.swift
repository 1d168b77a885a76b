#if CommandLine
    import ArgumentParser
    import BSONStore

    /// The command that inserts documents.
    struct InsertCommand: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "insert",
            abstract: "Insert documents into a store file or a server.",
            discussion: """
                A document is Extended JSON or a literal of MongoDB's shell. One without an _id \
                is given one, an ObjectId. In a synced collection of a file the documents are \
                pending changes, which the next sync sends. A missing file is created.

                Examples:
                  stitchsync insert shop.stitch shop.products '{_id: 4, name: "cup"}'
                  stitchsync insert stitchsync://localhost:27017 shop.products '[{_id: 5}, {_id: 6}]'

                Exit code: 0, 1 when a document was refused, 64 for a wrong command line.
                """)

        @OptionGroup var place: StoreArguments

        @Argument(
            help: "Documents, or lists of documents.",
            transform: { try ExtendedJSONArgument.documents($0) })
        var documents: [[BSONDocument]]

        @OptionGroup var signIn: SignInArguments

        @Flag(help: "Write one JSON object.")
        var json = false

        func run() async throws {
            let (namespace, documents) = (place.namespace, documents.flatMap { $0 })
            let report = try await DocumentSource.run(at: place.store, signIn, creates: true) {
                source in
                let list = documents.map {
                    BSONValue.document(ShellCollection.identified($0).0)
                }
                let reply = try source.run(
                    [
                        "insert": .string(namespace.collection),
                        "documents": .array(BSONArray(list)), "ordered": .bool(false),
                    ], on: namespace.database)
                return WriteReport(
                    reply, counts: [("inserted", Int(reply.number("n")))],
                    isPending: try source.isSynced(namespace))
            }
            try report.say(namespace, asJSON: json)
        }
    }
#endif
