#if CommandLine
    import ArgumentParser
    import BSONStore

    /// The command that deletes documents.
    struct DeleteCommand: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "delete",
            abstract: "Delete documents of a store file or a server.",
            discussion: """
                Deletes the first document that matches the filter, or with --many all of them. In \
                a synced collection of a file the deletes are pending; the next sync sends them.

                Examples:
                  stitchsync delete shop.stitch shop.products '{_id: 1}'
                  stitchsync delete shop.stitch shop.products '{stock: 0}' --many

                Exit code: 0 even when no document matches, 1 when the delete was refused, 64 for \
                a wrong command line.
                """)

        @OptionGroup var place: StoreArguments

        @Argument(
            help: "The filter.", transform: { try ExtendedJSONArgument.document($0) })
        var filter: BSONDocument

        @Flag(help: "Delete all documents that match, not only one.")
        var many = false

        @OptionGroup var signIn: SignInArguments

        @Flag(help: "Write one JSON object.")
        var json = false

        func run() async throws {
            let namespace = place.namespace
            let paused = try await PausedDocuments(at: place)
            let delete: BSONDocument = [
                "q": .document(filter), "limit": .int32(many ? 0 : 1),
            ]
            let report = try await DocumentSource.run(at: place.store, signIn) { source in
                // Asked first: a collection without synced documents is no longer synced.
                let isPending = try source.isSynced(namespace)
                let reply = try source.run(
                    [
                        "delete": .string(namespace.collection),
                        "deletes": [.document(delete)],
                    ], on: namespace.database)
                return WriteReport(
                    reply, counts: [("deleted", Int(reply.number("n")))], isPending: isPending)
            }
            let resumed = try await paused.countResumed()
            try report.say(namespace, resumed: resumed, asJSON: json)
        }
    }
#endif
