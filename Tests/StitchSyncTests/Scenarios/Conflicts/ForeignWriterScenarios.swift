import BSONStore
import Testing

@testable import StitchSync

/// Tools that know nothing of sync write to the remote too; no edit of theirs may be lost.
@Suite(.remotes)
struct ForeignWriterScenarios {
    private let field = DocumentVersion.fieldName

    private func synced(
        _ handler: ConflictHandler<BSONDocument>? = .remoteWins
    ) async throws -> (SyncWorld, Device) {
        let world = try SyncWorld()
        let a = try await world.device("A", handler: handler)
        try await a.insert(["_id": "k", "x": 0])
        try await a.sync()
        _ = world.transcript()
        return (world, a)
    }

    @Test("a document without a version is claimed, once, and arrives")
    func claims() async throws {
        let world = try SyncWorld()
        let a = try await world.device("A")
        try world.foreign("k") { $0["x"] = 1 }
        try await a.items.sync(ids: ["k"])
        try await a.sync()
        #expect(try await a.local("k") == ["_id": "k", "x": 1])
        let version = try #require(try world.remoteVersion("k")?.version)
        #expect(version.counter == 0)
        try await a.sync()
        #expect(try world.remoteVersion("k")?.version == version)
    }

    @Test("a version that the remote refuses to write is no reason for another pass at once")
    func refusedClaims() async throws {
        let world = try SyncWorld()
        var remote = TwistedRemote(base: world.remote)
        remote.writeFault = { write in
            guard case .update = write.action else { return nil }
            return RemoteError(.rejected, code: 121, "no further fields")
        }
        let a = Device(
            name: "A", world: world, store: try DocumentStore(at: .inMemory), handler: nil,
            remote: remote)
        try await a.start()
        try await a.insert(["_id": "k", "x": 1])
        try world.foreign("k") { $0["x"] = 2 }
        try await a.items.sync(ids: ["k"])
        #expect(try await a.engine.syncUntilQuiet(passesMax: 10).passes < 10)
    }

    /// Where the version field's name has its last byte, these have the middle of a letter.
    @Test(
        "an edit of a field whose long name has other letters arrives",
        arguments: ["наименование", "aaaaaaaaaaaaaaaaaaaa数量", "x"])
    func longNames(name: String) async throws {
        let (world, a) = try await synced()
        try world.foreign("k") { $0[name] = 1 }
        try await a.sync()
        #expect(try await a.local("k")?[name] == 1)
        try await a.items.updateOne(["_id": "k"], ["$set": [name: 2]])
        try await a.sync()
        try await a.sync()
        #expect(try world.remoteDocument("k")?[name] == 2)
        #expect(try await a.items.status() == SyncStatus(synced: 1))
    }

    @Test("an edit that unsets, raises or keeps the version arrives", arguments: 0..<3)
    func edits(kind: Int) async throws {
        let (world, a) = try await synced()
        try world.foreign("k") { document in
            document["x"] = 5
            switch kind {
            case 0: document[DocumentVersion.fieldName] = nil
            case 1:
                var version = document[DocumentVersion.fieldName]?.documentValue ?? [:]
                version["v"] = .int64(8)
                document[DocumentVersion.fieldName] = .document(version)
            default: break
            }
        }
        try await a.sync()
        #expect(try await a.local("k") == ["_id": "k", "x": 5])
        #expect(world.transcript() == ["A remote replace k settled"])
    }

    @Test("an edit that keeps the version is not overwritten unseen")
    func unbumped() async throws {
        let (world, a) = try await synced(.mergeFields(overlaps: .localWins))
        try await a.set("k", ["x": 2])
        world.remote.before { call in
            guard call.kind == .write else { return }
            world.remote.before(nil)
            try world.foreign("k") { $0["x"] = 5 }
        }
        try await a.sync()
        #expect(world.transcript().contains("A conflict base x=0 local x=2 remote x=5"))
        try await a.sync()
        #expect(try world.remoteDocument("k") == ["_id": "k", "x": 2])
    }

    @Test("a version that is none of ours stops its document only, and no write is lost")
    func malformed() async throws {
        let (world, a) = try await synced()
        try await a.insert(["_id": "good"])
        try await a.sync()
        try world.foreign("k") { $0[DocumentVersion.fieldName] = ["spv": 2, "id": "?", "v": 1] }
        try await a.set("k", ["x": 1])
        try await a.set("good", ["y": 1])
        _ = world.transcript()
        try await a.sync()
        try await a.sync()
        #expect(
            world.transcript() == ["A committed update good settled", "A error foreignVersion k"])
        #expect(try await a.local("k") == ["_id": "k", "x": 1])
        #expect(try await a.items.status().pending == 1)
        #expect(try await a.items.pendingIDs == ["k"])
        #expect(try await a.items.foreignVersionIDs == ["k"])
        // What waits for somebody else is not waited for.
        try await a.set("good", ["y": 2])
        try await a.engine.waitForUpload()
        #expect(try world.remoteDocument("good")?["y"] == 2)
        try world.foreign("k") { $0[DocumentVersion.fieldName] = nil }
        try await a.sync()
        try await a.sync()
        #expect(try world.remoteDocument("k") == ["_id": "k", "x": 1])
        #expect(try await a.items.foreignVersionIDs == [])
    }

    @Test("what a query brings with a version that is none of ours is told, too, once")
    func malformedByQuery() async throws {
        let world = try SyncWorld()
        try world.foreign("k") { $0[DocumentVersion.fieldName] = "mine" }
        let a = try await world.device("A", handler: nil)
        try await a.subscribe(to: [:])
        let report = try await a.settle()
        #expect(report.taken == 1 && report.paused == 0)
        try await a.engine.forceScan(SyncWorld.namespace)
        try await a.settle()
        #expect(try await a.local("k") == ["_id": "k"])
        #expect(try await a.items.foreignVersionIDs == ["k"])
        #expect(world.transcript().filter { $0.contains("error") } == ["A error foreignVersion k"])
    }

    @Test(
        "the error says what the version field lacks",
        arguments: [
            ("text", "it is not a document"), ([:], "its spv is missing or not a number"),
            (["spv": 2], "its spv is 2"),
            (["spv": 1, "id": 7], "its id is missing or not a string"),
            (["spv": 1, "id": "x", "v": 3.5], "its v is missing or not a whole number"),
        ] as [(BSONValue, String)])
    func misfit(field: BSONValue, words: String) {
        #expect(DocumentVersion(field) == nil)
        #expect(DocumentVersion.misfit(field) == words)
    }

    @Test("the version field cannot be edited locally")
    func versionIsNotEditable() async throws {
        let (world, a) = try await synced()
        try await a.insert(["_id": "n", DocumentVersion.fieldName: ["v": 9]])
        #expect(try await a.local("n") == ["_id": "n"])
        try await a.items.updateOne(
            ["_id": "k"], ["$set": [field + ".v": .int64(10), "y": 1]])
        try await a.sync()
        #expect(try await a.local("k") == ["_id": "k", "x": 0, "y": 1])
        #expect(try world.remoteVersion("k")?.version?.counter == 1)
        try await a.items.updateOne(["_id": "k"], ["$rename": ["y": .string(field)]])
        #expect(try await a.local("k") == ["_id": "k", "x": 0])
        try await a.sync()
        #expect(try world.remoteVersion("k")?.version?.counter == 2)
        try await a.items.updateOne(["_id": "k"], ["$unset": [field: 1]])
        let only = try await a.items.updateMany([:], ["$set": [field: ["v": 3]]])
        #expect(only.matchedCount == 2 && only.modifiedCount == 0)
        try await a.sync()
        #expect(try world.remoteVersion("k")?.version?.counter == 2)
    }

    @Test("a counter at its end begins a new lineage")
    func counterEnds() async throws {
        let (world, a) = try await synced()
        try world.foreign("k") { document in
            document[DocumentVersion.fieldName] = ["spv": 1, "id": "old", "v": .int64(.max)]
        }
        try await a.sync()
        try await a.set("k", ["x": 1])
        try await a.sync()
        let version = try #require(try world.remoteVersion("k")?.version)
        #expect(version.counter == 0 && version.lineage != "old")
        #expect(try world.remoteDocument("k") == ["_id": "k", "x": 1])
    }

    @Test("a counter that went back is a remote change like any other")
    func regressed() async throws {
        let (world, a) = try await synced()
        for x in 1...3 {
            try await a.set("k", ["x": .int32(Int32(x))])
            try await a.sync()
        }
        try world.foreign("k") { document in
            document["x"] = 0
            var version = document[DocumentVersion.fieldName]?.documentValue ?? [:]
            version["v"] = .int64(1)
            document[DocumentVersion.fieldName] = .document(version)
        }
        try await a.sync()
        #expect(try await a.local("k") == ["_id": "k", "x": 0])
    }

    @Test("keys with dots and dollars, and nested ids, travel")
    func awkwardKeys() async throws {
        let (world, a) = try await synced()
        var document: BSONDocument = ["_id": "k", "n": ["_id": 1, "$odd": 1, "a.b": 1]]
        try await a.items.replaceOne(["_id": "k"], document)
        try await a.sync()
        #expect(try world.remoteDocument("k")?.contentEquals(document) == true)
        document = ["_id": "k", "n": ["_id": 2, "$odd": 2, "a.b": 2]]
        try await a.items.replaceOne(["_id": "k"], document)
        try await a.sync()
        #expect(try world.remoteDocument("k")?.contentEquals(document) == true)
    }
}
