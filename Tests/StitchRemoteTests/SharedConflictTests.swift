#if Remote
    import BSONStore
    import Foundation
    import StitchSync
    import TestProcesses
    import Testing

    @testable import StitchRemote

    /// Conflicts of the fleet must reach the operator, without what was redacted or may not be read.
    @Suite(.timeLimit(.minutes(30))) struct SharedConflictTests {
        private static let notes = Namespace("app", "notes")
        private static let password = "a long password"
        /// Users may neither read nor write the field `secret`.
        private static let rules = """
            {
              "database": "app", "collection": "notes",
              "roles": [
                {
                  "name": "writer", "apply_when": {}, "insert": true, "delete": true,
                  "fields": {"secret": {"read": false, "write": false}},
                  "additional_fields": {"read": true, "write": true}
                }
              ]
            }
            """

        private static func serve(_ body: (String) async throws -> Void) async throws {
            let root = FileManager.default.temporaryDirectory.appending(
                path: "stitchconflicts-\(UUID())")
            let folder = root.appending(path: "data_sources/mongodb-atlas/app/notes")
            try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
            try Data(rules.utf8).write(to: folder.appending(path: "rules.json"))
            let result: Result<Void, any Error>
            do {
                result = .success(
                    try await ServerProcess.run(["--auth", "--rules", root.path, "--sign-up"]) {
                        try await body("127.0.0.1:\($0.port)/app")
                    })
            } catch {
                result = .failure(error)
            }
            try FileManager.default.removeItem(at: root)
            try result.get()
        }

        private static func device(
            _ remote: ServerRemote, _ sharing: ConflictSharing?
        ) async throws -> SyncEngine {
            let engine = try SyncEngine(store: try DocumentStore(at: .inMemory), remote: remote)
            let handler = ConflictHandler<BSONDocument> { conflict in
                var merged = conflict.remote ?? [:]
                merged.set("title", to: "merged")
                return .use(merged)
            }
            await engine.collection(notes).configure(
                conflictHandler: handler, sharesConflicts: sharing)
            try await engine.collection(notes).subscribe(waitForSync: .never)
            return engine
        }

        @Test
        func `a conflict of a device is read by administrators only, without redacted fields`()
            async throws
        {
            try await Self.serve { place in
                let uri = "stitchsync://\(place)"
                try await ServerRemote.createUser(
                    "root", password: Self.password, roles: ["root"], customData: nil, at: uri)
                let signIn = try await ServerRemote.register(
                    "ann", password: Self.password, at: uri, options: .patient)
                let own = try ServerRemote(uri, signIn: signIn, options: .patient)
                let other = try ServerRemote(uri, signIn: signIn, options: .patient)
                let root = try ServerRemote(
                    uri, signIn: .user("root", password: Self.password, database: "admin"),
                    options: .patient)
                let phone = try await Self.device(
                    own, .redacting(["phone"], appVersion: "2.1"))
                let tablet = try await Self.device(other, nil)
                try await phone.collection(Self.notes).insertOne([
                    "_id": 1, "title": "plan", "phone": "111",
                ])
                try await phone.syncUntilQuiet()
                try await tablet.syncUntilQuiet()
                try await tablet.collection(Self.notes).updateOne(
                    ["_id": 1], ["$set": ["title": "theirs", "phone": "222"]])
                try await tablet.syncUntilQuiet()
                try await phone.collection(Self.notes).updateOne(
                    ["_id": 1], ["$set": ["title": "mine"]])
                try await phone.syncUntilQuiet()

                let find: BSONDocument = ["find": "conflicts", "filter": [:]]
                #expect(try await own.run(find, on: "stitchsync")["code"] == 13)
                func found() async throws -> [BSONDocument] {
                    let reply = try await root.run(find, on: "stitchsync")
                    let batch = reply["cursor"]?.documentValue?["firstBatch"]?.arrayValue ?? []
                    return batch.compactMap(\.documentValue)
                }
                let shared = try await found()
                let first = try #require(shared.first)
                #expect(shared.count == 1)
                #expect(first["decision"] == "use" && first["user"] == ":app.ann")
                #expect(first["appVersion"] == "2.1" && first["namespace"] == "app.notes")
                let editions = ["base", "local", "remote", "result"].map {
                    first[$0]?.documentValue
                }
                #expect(editions.map { $0?["title"] } == ["plan", "mine", "theirs", "merged"])
                #expect(
                    editions.map { $0?["phone"] }
                        == ["(string)", "(string)", "(string 2)", "(string 2)"])
                #expect(!first.extendedJSON().contains("\"222\""))
                let waiting = try phone.store.read {
                    try $0.connection.int64("SELECT count(*) FROM sync_shared")
                }
                #expect(waiting == 0)
                let conflict = try #require(try JournaledConflict(shared: first))
                #expect(conflict.documentID == 1 && conflict.local?["title"] == "mine")

                // What the role may not read is removed from what arrives, and a conflict that is
                // sent twice counts once.
                let forged: BSONDocument = [
                    "_id": .objectID(BSONObjectID()), "time": .datetime(.now), "documentID": 2,
                    "decision": "useLocal", "local": ["_id": 2, "secret": "word", "a": 1],
                ]
                try await own.share([forged, forged], in: Self.notes)
                let all = try await found()
                #expect(all.count == 2)
                #expect(all.last?["local"] == ["_id": 2, "a": 1])
                await own.close()
                await other.close()
                await root.close()
            }
        }
    }
#endif
