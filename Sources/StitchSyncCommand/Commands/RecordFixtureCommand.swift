#if CommandLine
    import ArgumentParser
    import BSONStore
    import StitchSync
    import StitchSyncTesting

    /// The command that writes fixtures from a store's last conflict, or from conflicts at a server.
    struct RecordFixtureCommand: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "record",
            abstract: "Write a fixture from a store's last conflict, or from a server's conflicts.",
            discussion: """
                A store keeps the last conflict of each document that had one recently: base, \
                local, remote and the resolution. The command plays the conflict again in memory, \
                and the fixture expects the same result. With --app the fixture uses your app's \
                handler, for checkConflicts(in:handler:).

                With --from, the conflicts are those that devices shared with a server or gateway \
                (configure(sharesConflicts:)), the newest ones; the command needs an administrator. \
                A conflict that cannot be played again, for example since a role hid one of its \
                documents, is named and left out.

                Examples:
                  stitchsync fixture record shop.stitch --out price.json
                  stitchsync fixture record shop.stitch shop.products 7 --app --out fixtures/price.json
                  stitchsync fixture record --from stitchsync://admin@localhost --app --out fleet.json

                Exit code: 0, 1 when the store has no such conflict, it cannot be played again, or \
                the file exists already, 64 for a wrong command line.
                """)

        @Argument(
            help: "The store's file; or the server or gateway, as with --from.",
            completion: .file())
        var store: String?

        @Argument(
            help: "Only a conflict in this collection.", transform: { try Namespace(parsing: $0) })
        var collection: Namespace?

        @Argument(help: "Only a conflict of the document with this _id.")
        var id: String?

        @Option(
            name: [.long, .short], help: "The file to write, or - for standard output.",
            completion: .file())
        var out = "-"

        @Option(help: "What the fixture shows, in one sentence.")
        var name: String?

        @Option(help: "Instead of a store: the server or gateway, stitchsync://….")
        var from: String?

        @OptionGroup var signIn: SignInArguments

        @Option(
            help: "With --from: only conflicts of this collection.",
            transform: { try Namespace(parsing: $0) })
        var namespace: Namespace?

        @Option(help: "With --from: the maximum number of conflicts, the newest ones.")
        var limit = 100

        @Flag(help: "Use the app's own handler, and expect the recorded resolution from it.")
        var app = false

        func validate() throws {
            guard (store == nil) != (from == nil) else {
                throw ValidationError("give a store's file or --from, one of them")
            }
            guard collection == nil || namespace == nil else {
                throw ValidationError("name the collection once, after the store or by --namespace")
            }
            guard from != nil || namespace == nil || store.map(SessionRemote.isServer) == true
            else {
                throw ValidationError(
                    "--namespace needs --from; name the collection after the file")
            }
            guard limit > 0 else { throw ValidationError("--limit must be at least 1") }
        }

        func run() async throws {
            if let store, SessionRemote.isServer(store) {
                return try await record(fromServer: store)
            }
            if let store { return try await record(from: store) }
            if let from { try await record(fromServer: from) }
        }

        /// Writes a file with a fixture for each shared conflict that can be played again.
        private func record(fromServer server: String) async throws {
            var filter: BSONDocument = [:]
            if let namespace = namespace ?? collection {
                filter.append("namespace", .string(namespace.description))
            }
            if let id {
                filter.append("documentID", ["$in": .array(BSONArray(DiffCommand.ids(id)))])
            }
            let command: BSONDocument = [
                "find": "conflicts", "filter": .document(filter),
                "sort": ["received": -1, "_id": -1],
                "limit": .int64(Int64(limit)),
            ]
            let found = try await DocumentSource.run(at: server, signIn) { source in
                var found: [BSONDocument] = []
                try source.forEach(command, on: "stitchsync") { found.append($0) }
                return found
            }
            let console = Console.standard
            var cases: [BSONDocument] = []
            for document in found.reversed() {
                let id = (document["_id"] ?? .null).extendedJSON(.relaxed)
                guard let conflict = try JournaledConflict(shared: document) else {
                    try console.warn("left out \(id): a role hid one of its documents")
                    continue
                }
                let place = Self.place(of: conflict)
                do {
                    cases.append(
                        try await ConflictFixture.recording(
                            conflict, name: name ?? "\(place) \(id): \(conflict.answerText)",
                            forApp: app))
                } catch let error as FixtureError {
                    try console.warn("left out \(place) \(id): \(error)")
                }
            }
            guard !cases.isEmpty else {
                throw CommandError(
                    "\(server) has no conflict that can be played again, of \(found.count)")
            }
            try write(
                ConflictFixture.file(
                    description: "Conflicts that devices shared with a server.",
                    cases: cases))
            if out != "-" {
                try console.say("\(out): \(cases.count) of \(found.count.counted("conflict"))")
            }
        }

        private func record(from store: String) async throws {
            try signIn.check(file: store)
            let opened = try StoreOpening.existing(store)
            defer { opened.close() }
            let conflicts = try SyncEngine(lookingAt: opened).journaledConflicts()
            guard let conflict = conflicts.last(where: isMeant) else {
                let place = [collection?.description, id].compactMap { $0 }.joined(separator: " ")
                throw CommandError(
                    "\(store) keeps no conflict" + (place.isEmpty ? "" : " of \(place)")
                        + Self.hint(conflicts))
            }
            let place = Self.place(of: conflict)
            let recorded = try await ConflictFixture.recording(
                conflict, name: name ?? "\(place): \(conflict.answerText)", forApp: app)
            let file = ConflictFixture.file(
                description: "A conflict of \(place) at \(conflict.time.text).",
                cases: [recorded])
            try write(file)
            if out != "-" { try Console.standard.say("\(out): the conflict of \(place)") }
        }

        private func write(_ file: BSONDocument) throws {
            let descriptor = try Descriptor.making(out)
            defer { descriptor.close() }
            try descriptor.write(file.extendedJSONBytes(.canonical, pretty: true) + [0x0A])
        }

        private static func place(of conflict: JournaledConflict) -> String {
            "\(conflict.namespace) \(conflict.documentID.extendedJSON(.relaxed))"
        }

        private func isMeant(_ conflict: JournaledConflict) -> Bool {
            guard collection.map({ $0 == conflict.namespace }) ?? true else { return false }
            return id.map { DiffCommand.ids($0).contains(conflict.documentID) } ?? true
        }

        private static func hint(_ conflicts: [JournaledConflict]) -> String {
            guard !conflicts.isEmpty else { return "" }
            let kept = conflicts.suffix(5).map { conflict in
                "\(conflict.namespace) \(conflict.documentID.extendedJSON(.relaxed))"
            }
            return "; it keeps \(conflicts.count), such as \(kept.joined(separator: ", "))"
        }
    }
#endif
