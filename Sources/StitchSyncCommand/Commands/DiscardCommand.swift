#if CommandLine
    import ArgumentParser
    import BSONStore
    import StitchSync

    /// The command that drops a change that was not sent.
    struct DiscardCommand: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "discard",
            abstract: "Drop the pending or paused change of one document.",
            discussion: """
                The document becomes again what the remote confirmed last; one that the remote \
                never held is removed. A change that was sent without an answer may have reached \
                the remote; then the next sync reverts it there. `status` lists pending and paused \
                documents, and `retry --discard` drops writes that the remote rejected.

                Examples:
                  stitchsync discard shop.stitch shop.products 7
                  stitchsync discard shop.stitch shop.products '"a17"' --json

                Exit code: 0, 1 when the document has no pending change or the store failed, 64 \
                for a wrong command line.
                """)

        @OptionGroup var place: StoreFileArguments

        @Argument(help: "The document's _id, in Extended JSON or as plain text.")
        var id: String

        @Flag(help: "Write one JSON object.")
        var json = false

        func validate() throws {
            guard let first = id.first, "{[\"".contains(first) else { return }
            _ = try ExtendedJSONArgument.value(id)
        }

        func run() async throws {
            let store = try place.existing()
            defer { store.close() }
            let collection = try place.synced(in: store)
            let ids = DiffCommand.ids(id)
            for id in ids where try await collection.discardPendingChange(of: id) {
                return try report(id, store)
            }
            var isSynced = false
            for id in ids where try await collection.status(of: id) != .notSynced {
                isSynced = true
            }
            throw CommandError(
                "\(place.namespace) \(id) "
                    + (isSynced ? "has no pending change" : "is not synced in \(place.store)"))
        }

        private func report(_ id: BSONValue, _ store: DocumentStore) throws {
            let kept = try store.read { try $0.get(place.namespace, id: id) != nil }
            let object: BSONDocument = ["discarded": id, "kept": .bool(kept)]
            let result =
                kept
                ? "the document is again as the remote confirmed it"
                : "the document is removed, because the remote did not hold it"
            try Console.standard.say(
                json
                    ? object.extendedJSON(.canonical)
                    : "\(place.namespace) \(id.extendedJSON(.relaxed)): the change is discarded; "
                        + result)
        }
    }
#endif
