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
                `status` shows the reason. The next pass reads the document from the remote first. \
                A local write to a paused document resumes it, too; `discard` drops its change.

                Examples:
                  stitchsync resume shop.stitch shop.products
                  stitchsync resume shop.stitch shop.products --ids '[1, "a17"]'

                Exit code: 0, 1 when a given document is not synced or the store failed, 64 for a \
                wrong command line.
                """)

        @OptionGroup var place: StoreFileArguments

        @Option(
            help: "Only documents with these _ids, a list in Extended JSON.",
            transform: { try ExtendedJSONArgument.list($0) })
        var ids: [BSONValue]?

        @Flag(help: "Write one JSON object.")
        var json = false

        /// Resumes the given documents, or all paused ones, and prints how many are left.
        ///
        /// An id that is not synced is printed as a warning and does not stop the others.
        ///
        /// - Throws: exit code 1 if a given id is not synced, and the store's errors.
        func run() async throws {
            let store = try place.existing()
            defer { store.close() }
            let collection = try place.synced(in: store)
            let before = try await collection.pausedIDs
            let missing = try await resume(ids ?? before, of: collection)
            let after = try await collection.pausedIDs
            try report(resumed: before.count - after.count, paused: after.count, missing)
            guard missing.isEmpty else { throw ExitCode.failure }
        }

        /// Resumes documents and returns the ids that are not synced.
        private func resume(
            _ ids: [BSONValue], of collection: SyncCollection<BSONDocument>
        ) async throws -> [BSONValue] {
            var missing: [BSONValue] = []
            for id in ids where try await !collection.resumeSync(of: id) { missing.append(id) }
            return missing
        }

        /// Prints the counts, after a warning for each id that is not synced.
        private func report(resumed: Int, paused: Int, _ missing: [BSONValue]) throws {
            for id in missing {
                try Console.standard.warn("error: \(id.extendedJSON(.relaxed)) is not synced")
            }
            let object: BSONDocument = [
                "resumed": .int64(Int64(resumed)), "paused": .int64(Int64(paused)),
                "notSynced": .array(BSONArray(missing)),
            ]
            try Console.standard.say(
                json
                    ? object.extendedJSON(.canonical)
                    : ids == nil && resumed == 0 && paused == 0
                        ? "nothing is paused"
                        : "\(resumed.counted("document")) resumed, \(paused) paused")
        }
    }
#endif
