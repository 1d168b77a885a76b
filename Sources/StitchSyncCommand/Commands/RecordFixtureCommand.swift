#if CommandLine
    import ArgumentParser
    import BSONStore
    import StitchSync
    import StitchSyncTesting

    /// The command that writes a fixture from a store's last conflict.
    struct RecordFixtureCommand: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "record",
            abstract: "Write a fixture from a store's last conflict.",
            discussion: """
                A store keeps the last conflict of each document that had one recently: base, \
                local, remote and the resolution. The command plays the conflict again in memory, \
                and the fixture expects the same result. With --app the fixture uses your app's \
                handler, for checkConflicts(in:handler:).

                Examples:
                  stitchsync fixture record shop.stitch --out price.json
                  stitchsync fixture record shop.stitch shop.products 7 --app --out fixtures/price.json

                Exit code: 0, 1 when the store has no such conflict, it cannot be played again, or \
                the file exists already, 64 for a wrong command line.
                """)

        @Argument(help: "The store's file.", completion: .file())
        var store: String

        @Argument(
            help: "Only a conflict in this collection.", transform: { try Namespace(parsing: $0) })
        var namespace: Namespace?

        @Argument(help: "Only a conflict of the document with this _id.")
        var id: String?

        @Option(
            name: [.long, .short], help: "The file to write, or - for standard output.",
            completion: .file())
        var out = "-"

        @Option(help: "What the fixture shows, in one sentence.")
        var name: String?

        @Flag(help: "Use the app's own handler, and expect the recorded resolution from it.")
        var app = false

        func run() async throws {
            let opened = try StoreOpening.existing(store)
            defer { opened.close() }
            let conflicts = try SyncEngine(lookingAt: opened).journaledConflicts()
            guard let conflict = conflicts.last(where: isMeant) else {
                let place = [namespace?.description, id].compactMap { $0 }.joined(separator: " ")
                throw CommandError(
                    "\(store) keeps no conflict" + (place.isEmpty ? "" : " of \(place)")
                        + Self.hint(conflicts))
            }
            let place =
                "\(conflict.namespace) \(conflict.documentID.extendedJSON(.relaxed))"
            let recorded = try await ConflictFixture.recording(
                conflict, name: name ?? "\(place): \(conflict.answerText)", forApp: app)
            let file = ConflictFixture.file(
                description: "A conflict of \(place) at \(conflict.time.text).",
                cases: [recorded])
            let descriptor = try Descriptor.making(out)
            defer { descriptor.close() }
            try descriptor.write(file.extendedJSONBytes(.canonical, pretty: true) + [0x0A])
            if out != "-" { try Console.standard.say("\(out): the conflict of \(place)") }
        }

        private func isMeant(_ conflict: JournaledConflict) -> Bool {
            guard namespace.map({ $0 == conflict.namespace }) ?? true else { return false }
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
