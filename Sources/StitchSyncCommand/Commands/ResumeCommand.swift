#if CommandLine
    import ArgumentParser
    import BSONStore
    import StitchSync

    /// The command that resumes the sync of paused documents.
    struct ResumeCommand: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "resume",
            abstract: "Resume the sync of paused documents.",
            discussion: """
                Sync pauses a document when its conflict handler fails or the remote refuses it; \
                `status` shows the reason. The next pass reads the document from the remote first.

                Examples:
                  stitchsync resume shop.stitch shop.products
                  stitchsync resume shop.stitch shop.products --ids '[1, "a17"]'

                Exit code: 0, 1 when a given document is not synced or the store failed, 64 for a \
                wrong command line.
                """)

        @OptionGroup var place: StoreArguments

        @Option(
            help: "Only documents with these _ids, a list in Extended JSON.",
            transform: { try ExtendedJSONArgument.list($0) })
        var ids: [BSONValue]?

        @Flag(help: "Write one JSON object.")
        var json = false

        func run() async throws {
            let store = try place.existing()
            defer { store.close() }
            let engine = try SyncEngine(lookingAt: store)
            let collection = engine.collection(place.namespace)
            let paused = try await collection.pausedIDs
            var missing: [BSONValue] = []
            for id in ids ?? paused where try await !collection.resumeSync(of: id) {
                missing.append(id)
            }
            for id in missing {
                try Console.standard.warn("error: \(id.extendedJSON(.relaxed)) is not synced")
            }
            let left = try await collection.pausedIDs.count
            let object: BSONDocument = [
                "resumed": .int64(Int64(paused.count - left)), "paused": .int64(Int64(left)),
                "notSynced": .array(BSONArray(missing)),
            ]
            try Console.standard.say(
                json
                    ? object.extendedJSON(.canonical)
                    : "\(paused.count - left) documents resumed, \(left) paused")
            guard missing.isEmpty else { throw ExitCode.failure }
        }
    }
#endif
