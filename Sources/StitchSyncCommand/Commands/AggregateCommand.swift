#if CommandLine
    import ArgumentParser
    import BSONStore
    import StitchSync

    /// The command that runs an aggregation pipeline on a collection.
    struct AggregateCommand: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "aggregate",
            abstract: "Run an aggregation pipeline and show its documents, one per line.",
            discussion: """
                The pipeline is a list of MongoDB's stages in Extended JSON. $out and $merge \
                write, as in MongoDB, but not to a collection with synced documents, because sync \
                would not see the writes.

                Example:
                  stitchsync aggregate shop.stitch shop.products \\
                    '[{"$group": {"_id": "$kind", "n": {"$sum": 1}}}, {"$sort": {"n": -1}}]' --relaxed

                Exit code: 0 even when there are no documents, 1 when the store cannot be read or \
                the pipeline is invalid, 64 for a wrong command line.
                """)

        @OptionGroup var place: StoreArguments

        @Argument(help: "The pipeline, a list of stages.", transform: Self.stages)
        var pipeline: [BSONDocument]

        @OptionGroup var output: OutputArguments

        @OptionGroup var signIn: SignInArguments

        private static func stages(_ text: String) throws -> [BSONDocument] {
            guard let list = try ExtendedJSONArgument.value(text).arrayValue else {
                throw ValidationError(
                    #"the pipeline is not a list of stages, such as [{"$match": {}}]"#)
            }
            return try list.map { stage in
                guard let document = stage.documentValue else {
                    throw ValidationError(
                        "a stage is not a document: \(stage.extendedJSON(.relaxed))")
                }
                return document
            }
        }

        func run() async throws {
            guard !place.isServer else { return try await runAtServer() }
            try signIn.check(file: place.store)
            let target = try Pipeline(BSONArray(pipeline.map(BSONValue.document)))
                .target(from: place.namespace)
            let store = try target == nil ? place.open(readOnly: true) : place.existing()
            defer { store.close() }
            if let target {
                let synced = try await SyncEngine(lookingAt: store).collection(target).syncedIDs
                guard synced.isEmpty else {
                    throw CommandError(
                        "cannot write to \(target): it has synced documents, and sync would not "
                            + "see what $out and $merge write (name another collection)")
                }
            }
            var lines = output.lines
            let documents = try await store.collection(place.namespace).aggregate(pipeline)
            for document in documents { try lines.append(document) }
            try lines.finish()
        }

        private func runAtServer() async throws {
            let request: BSONDocument = [
                "aggregate": .string(place.namespace.collection),
                "pipeline": .array(BSONArray(pipeline.map(BSONValue.document))), "cursor": [:],
            ]
            let (database, output) = (place.namespace.database, output)
            try await DocumentSource.run(at: place.store, signIn) { source in
                var lines = output.lines
                try source.forEach(request, on: database) { try lines.append($0) }
                try lines.finish()
            }
        }
    }
#endif
