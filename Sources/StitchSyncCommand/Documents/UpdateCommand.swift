#if CommandLine
    import ArgumentParser
    import BSONStore

    /// The command that updates documents.
    struct UpdateCommand: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "update",
            abstract: "Update documents of a store file or a server.",
            discussion: """
                The update has operators such as $set, or is a pipeline. With --replace it is a \
                whole document that replaces the found one. In a synced collection of a file the changes are \
                pending; the next sync sends them.

                Examples:
                  stitchsync update shop.stitch shop.products '{_id: 1}' '{$set: {price: 3}}'
                  stitchsync update shop.stitch shop.products '{}' '{$inc: {stock: 1}}' --many
                  stitchsync update shop.stitch shop.products '{_id: 1}' '{price: 3}' --replace

                Exit code: 0 even when no document matches, 1 when the update was refused, 64 for \
                a wrong command line.
                """)

        @OptionGroup var place: StoreArguments

        @Argument(
            help: "The filter.", transform: { try ExtendedJSONArgument.document($0) })
        var filter: BSONDocument

        @Argument(
            help: "The update, a pipeline, or with --replace a replacement.",
            transform: { try ExtendedJSONArgument.update($0) })
        var update: BSONValue

        @Flag(help: "Update all documents that match, not only one.")
        var many = false

        @Flag(help: "Replace the whole document, except its _id.")
        var replace = false

        @Flag(help: "Insert a document if none matches.")
        var upsert = false

        @OptionGroup var signIn: SignInArguments

        @Flag(help: "Write one JSON object.")
        var json = false

        func validate() throws {
            let document = update.documentValue
            let hasOperators = document?.keys.first?.hasBytePrefix("$") ?? true
            guard hasOperators || replace else {
                throw ValidationError(
                    "the update document requires atomic operators, such as {$set: {price: 3}}; "
                        + "--replace replaces the whole document")
            }
            guard !(hasOperators && replace) else {
                throw ValidationError("--replace needs a whole document without operators")
            }
            guard !(many && replace) else {
                throw ValidationError("--many and --replace exclude each other; give one of them")
            }
        }

        func run() async throws {
            let namespace = place.namespace
            let paused = try await PausedDocuments(at: place)
            let update: BSONDocument = [
                "q": .document(filter), "u": update, "multi": .bool(many),
                "upsert": .bool(upsert),
            ]
            let report = try await DocumentSource.run(
                at: place.store, signIn, creates: upsert
            ) { source in
                let reply = try source.run(
                    [
                        "update": .string(namespace.collection),
                        "updates": [.document(update)],
                    ], on: namespace.database)
                let upserted = reply.documents("upserted").count
                return WriteReport(
                    reply,
                    counts: [
                        ("matched", Int(reply.number("n")) - upserted),
                        ("modified", Int(reply.number("nModified"))),
                    ],
                    isPending: try source.isSynced(namespace))
            }
            let resumed = try await paused.countResumed()
            try report.say(namespace, resumed: resumed, asJSON: json)
        }
    }
#endif
