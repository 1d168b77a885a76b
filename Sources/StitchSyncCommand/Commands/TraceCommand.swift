#if CommandLine
    import ArgumentParser
    import BSONStore
    import StitchSync

    #if Server
        import StitchServer
    #endif

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

                Of a server, stitchsync://… or mongodb://…, or of its file, the command shows the \
                writes that the change history still holds, and for an administrator the denied \
                ones. With --server it shows both sides of a device's document in one story: the \
                operations tie them together, whatever the clocks say.

                Examples:
                  stitchsync trace shop.stitch shop.products 7
                  stitchsync trace shop.stitch shop.products a17 --json
                  stitchsync trace stitchsync://localhost:27017 shop.products 7
                  stitchsync trace shop.stitch shop.products 7 --server stitchsync://localhost:27017

                Exit code: 0, 1 when neither store nor server knows anything of the document or \
                one of them cannot be read, 64 for a wrong command line.
                """)

        @OptionGroup var place: StoreArguments

        @Argument(help: "The document's _id, in Extended JSON or as plain text.")
        var id: String

        @Option(
            help: "Also read the server's side: a server, or its store file.",
            completion: .file())
        var server: String?

        @OptionGroup var signIn: SignInArguments

        @Option(help: "The maximum number of steps of each side, the newest ones.")
        var limit = 1000

        @Flag(help: "Write one JSON object per step, and one with the state.")
        var json = false

        func validate() throws {
            guard limit > 0 else { throw ValidationError("--limit must be at least 1") }
            guard server == nil || !place.isServer else {
                throw ValidationError("--server needs a device's file as the store")
            }
            guard let first = id.first, "{[\"".contains(first) else { return }
            _ = try ExtendedJSONArgument.value(id)
        }

        func run() async throws {
            let ids = DiffCommand.ids(id)
            guard !place.isServer else { return try await showServer(ids, at: place.store) }
            if server == nil { try signIn.check(file: place.store) }
            let (device, isSynced) = try await deviceStory(ids)
            if let server { return try await showBoth(device, ids, server) }
            guard let device else {
                guard !isSynced else { throw unknown(in: place.store) }
                return try await showServer(ids, at: place.store)
            }
            try show(device.lines, device.objects)
        }

        /// Reads the journal of the device, and whether it syncs the collection.
        private func deviceStory(
            _ ids: [BSONValue]
        ) async throws -> (story: DocumentStory?, isSynced: Bool) {
            let store = try StoreOpening.inspecting(at: place.store)
            defer { store.close() }
            let collection = try SyncEngine(lookingAt: store).collection(place.namespace)
            let story = try await DocumentStory(
                of: ids, in: collection, store: place.store, limit: limit)
            return (story, try store.read { try $0.isSynced(place.namespace) })
        }

        private func unknown(in store: String) -> CommandError {
            CommandError(
                "\(HiddenPassword.hidden(in: store)) has no story of \(id) in \(place.namespace)")
        }

        private func show(_ lines: [String], _ objects: [BSONDocument]) throws {
            let console = Console.standard
            if json {
                return try objects.forEach { try console.say($0.extendedJSON(.canonical)) }
            }
            for line in lines { try console.say(line) }
        }

        #if Server
            /// Reads the story of the first id that has one; `nil` where none has.
            private func serverStory(
                _ ids: [BSONValue], at server: String
            ) async throws -> ServerStory? {
                let (namespace, limit) = (place.namespace, limit)
                let name = HiddenPassword.hidden(in: server)
                return try await DocumentSource.run(at: server, signIn) { source in
                    for id in ids {
                        let history = WriteHistory(of: id, in: namespace) { command, database in
                            try source.reply(to: command, on: database)
                        }
                        var found: BSONDocument
                        do {
                            found = try history.document()
                        } catch let refusal as WriteHistory.Refusal {
                            throw CommandError("\(name): \(refusal)")
                        }
                        found.append("readers", try Self.readers(of: found, in: namespace, source))
                        let story = ServerStory(found, id, namespace, name, limit)
                        if story.document != nil || !story.steps.isEmpty { return story }
                    }
                    return nil
                }
            }

            /// Returns the devices that follow a collection; none where the server does not tell.
            private static func readers(
                of found: BSONDocument, in namespace: Namespace, _ source: DocumentSource
            ) throws -> BSONValue {
                let times = (found["changes"]?.arrayValue ?? [])
                    .compactMap { $0.documentValue?["time"]?.int64Value }
                guard let newest = times.max() else { return [] }
                let reply = try source.reply(to: ListedDevice.request, on: "admin")
                let devices = (reply["devices"]?.arrayValue ?? []).compactMap(\.documentValue)
                return .array(
                    BSONArray(
                        WriteReaders.readers(devices, of: namespace, since: newest)
                            .map { .document($0) }))
            }

            private func showServer(_ ids: [BSONValue], at server: String) async throws {
                guard let story = try await serverStory(ids, at: server) else {
                    throw unknown(in: server)
                }
                try show(
                    story.steps.map(\.line) + story.endLines,
                    story.steps.map(\.object) + [story.stateObject])
            }

            private func showBoth(
                _ device: DocumentStory?, _ ids: [BSONValue], _ server: String
            ) async throws {
                guard
                    let remote = try await serverStory(
                        device.map { [$0.documentID] } ?? ids, at: server)
                else {
                    guard let device else { throw unknown(in: "\(place.store) and \(server)") }
                    let note = "now at the server: nothing is known of the document"
                    return try show(
                        MergedStory(device.entries, []).lines + [note] + device.endLines,
                        device.objects)
                }
                let merged = MergedStory(device?.entries ?? [], remote.steps)
                let deviceLines = device?.endLines ?? ["this device knows nothing of the document"]
                try show(
                    merged.lines + remote.endLines + deviceLines,
                    merged.objects + [remote.stateObject] + (device.map { [$0.stateObject] } ?? []))
            }
        #else
            private func showServer(_ ids: [BSONValue], at server: String) async throws {
                guard !place.isServer else { throw SessionRemote.lacksServers }
                throw unknown(in: server)
            }

            private func showBoth(
                _ device: DocumentStory?, _ ids: [BSONValue], _ server: String
            ) async throws {
                throw SessionRemote.lacksServers
            }
        #endif
    }
#endif
