#if Remote
    import BSONStore
    import Foundation
    import StitchRemote
    import StitchSync
    import Testing

    /// Keeps the snippets of `Docs/TUTORIAL.md` that need a server, so that they are compiled.
    struct TutorialPageTests {
        private struct Note: Codable, Sendable {
            // swift-format-ignore: NoLeadingUnderscores
            var _id: String
            var text: String
            var tags: [String]
            var photo: BSONStore.Attachment?
        }

        private func register(_ name: String, _ password: String) async throws -> ServerRemote {
            let uri = "stitchsync://sync.example.com/app?tls=true"
            let signIn = try await ServerRemote.register(name, password: password, at: uri)
            let remote = try ServerRemote(uri, signIn: signIn)
            return remote
        }

        private func delete(
            _ remote: ServerRemote, _ engine: SyncEngine, _ password: String
        ) async throws {
            try await remote.deleteAccount(password: password)
            await engine.close()
        }

        private func attach(
            _ engine: SyncEngine, _ notes: SyncCollection<Note>, _ picture: URL
        ) async throws {
            let photo = try await notes.attach(
                contentsOf: picture, to: "list", at: "photo", contentType: "image/jpeg")
            try await engine.syncUntilQuiet()
            try await engine.attachments.transfer()
            _ = photo
        }

        private func load(
            _ notes: SyncCollection<Note>, _ show: ([UInt8]) -> Void
        ) async throws {
            if let photo = try notes.findOne(id: "list")?.photo {
                let jpeg = try await notes.file(photo, of: "list").bytes()
                show(jpeg)
            }
        }

        @Test func `a photo reaches the other device`() async throws {
            let folder = FileManager.default.temporaryDirectory.appending(
                path: "stitchtutorial-\(UUID())")
            try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
            defer { #expect(throws: Never.self) { try FileManager.default.removeItem(at: folder) } }
            let picture = folder.appending(path: "milk.jpg")
            try Data([0xFF, 0xD8]).write(to: picture)
            let remote = try InProcessRemote(at: .inMemory)
            let engines = try (0..<2).map { _ in
                try SyncEngine(store: DocumentStore(at: .inMemory), remote: remote)
            }
            let notes = engines.map { $0.collection(Namespace("app", "notes"), of: Note.self) }
            try await notes[0].insertOne(Note(_id: "list", text: "Buy milk", tags: []))
            try await attach(engines[0], notes[0], picture)
            try await notes[1].sync(ids: ["list"])
            try await engines[1].syncUntilQuiet()
            var shown: [[UInt8]] = []
            try await load(notes[1]) { shown.append($0) }
            #expect(shown == [[0xFF, 0xD8]])
        }
    }
#endif
