#if CommandLine
    import ArgumentParser
    import BSONStore
    import StitchSync

    /// The command that shows what happened to one document on this device.
    struct TraceCommand: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "trace",
            abstract: "Show the story of one document: each step of its writes and its sync.",
            discussion: """
                A store keeps a journal of the steps: written here, sent, applied by the remote, \
                refused, paused and so on. The output has one line a step, the newest last, with \
                the fields of a conflict below it; the last line says what the document waits for. \
                The journal is bounded, so the oldest steps may be missing.

                Examples:
                  stitchsync trace shop.stitch shop.products 7
                  stitchsync trace shop.stitch shop.products a17 --json

                Exit code: 0, 1 when the store knows nothing of the document or cannot be read, 64 \
                for a wrong command line.
                """)

        @OptionGroup var place: StoreFileArguments

        @Argument(help: "The document's _id, in Extended JSON or as plain text.")
        var id: String

        @Option(help: "The maximum number of steps, the newest ones.")
        var limit = 1000

        @Flag(help: "Write one JSON object per step, and one with the state.")
        var json = false

        func validate() throws {
            guard limit > 0 else { throw ValidationError("--limit must be at least 1") }
            guard let first = id.first, "{[\"".contains(first) else { return }
            _ = try ExtendedJSONArgument.value(id)
        }

        func run() async throws {
            let console = Console.standard
            let store = try StoreOpening.inspecting(at: place.store)
            defer { store.close() }
            let collection = try SyncEngine(lookingAt: store).collection(place.namespace)
            let story = try await DocumentStory(
                of: DiffCommand.ids(id), in: collection, store: place.store, limit: limit)
            guard let story else {
                throw CommandError("\(place.store) has no story of \(id) in \(place.namespace)")
            }
            if json {
                return try story.objects.forEach { try console.say($0.extendedJSON(.canonical)) }
            }
            for line in story.lines { try console.say(line) }
        }
    }
#endif
