import BSONStore
import Testing

@testable import StitchSync

/// A default collation that ignores case must not hide another client's edit of the case, nor
/// mistake one document for another.
@Suite(.remotes)
struct CollationScenarios {
    private enum Verb: CaseIterable { case update, replace, delete }

    private func world() async throws -> (SyncWorld, Device) {
        let world = try SyncWorld()
        try world.remoteDocuments.createIgnoringCase()
        return (world, try await world.device("A"))
    }

    @Test(
        "an edit of the case alone, which leaves the version, is a conflict and not overwritten",
        arguments: Verb.allCases)
    private func editOfCase(verb: Verb) async throws {
        let (world, a) = try await world()
        try await a.insert(["_id": "k", "name": "word", "list": ["a"], "n": 1])
        try await a.engine.syncUntilQuiet()
        switch verb {
        case .update: try await a.set("k", ["name": "other"])
        // An array that grew goes as a replacement.
        case .replace: try await a.items.replaceOne(["_id": "k"], ["a.b": 1, "n": 2])
        case .delete: try await a.delete("k")
        }
        let isForeign = Locked(false)
        world.remote.before { call in
            guard call.kind == .write, !isForeign.withLock({ $0 }) else { return }
            isForeign.withLock { $0 = true }
            try world.foreign("k") { $0["name"] = "WORD" }
        }
        _ = world.transcript()
        try await a.engine.syncUntilQuiet()
        #expect(isForeign.withLock { $0 })
        #expect(world.transcript().contains { $0.hasPrefix("A conflict") })
        #expect(try world.remoteDocument("k")?["name"] == "WORD")
        #expect(try await a.local("k")?["name"] == "WORD")
    }

    @Test("a document without a version is claimed, and its edit of the case arrives")
    func claim() async throws {
        let (world, a) = try await world()
        try world.foreign("k") { $0["name"] = "word" }
        try await a.items.sync(ids: ["k"])
        try await a.engine.syncUntilQuiet()
        try world.foreign("k") { document in
            document["name"] = "Word"
            var version = document[DocumentVersion.fieldName]?.documentValue ?? [:]
            version["v"] = .int64(8)
            document[DocumentVersion.fieldName] = .document(version)
        }
        try await a.engine.syncUntilQuiet()
        #expect(try await a.local("k") == ["_id": "k", "name": "Word"])
    }

    @Test("an id finds the document of exactly this id, to read and to delete")
    func idsOfTwoCases() async throws {
        let (world, a) = try await world()
        let b = try await world.device("B")
        try await a.insert(["_id": "foo", "x": 1])
        try await a.engine.syncUntilQuiet()
        try await b.items.sync(ids: ["FOO", "foo"])
        try await b.engine.syncUntilQuiet()
        #expect(try await b.local("FOO") == nil)
        #expect(try await b.local("foo") == ["_id": "foo", "x": 1])
        guard !SyncWorld.remoteKind.isShared else { return }
        try await b.insert(["_id": "FOO", "x": 2])
        try await b.engine.syncUntilQuiet()
        #expect(try world.remoteDocument("FOO") == ["_id": "FOO", "x": 2])
        try await b.set("FOO", ["x": 3])
        try await a.delete("foo")
        try await b.engine.syncUntilQuiet()
        try await a.engine.syncUntilQuiet()
        #expect(try world.remoteDocument("FOO") == ["_id": "FOO", "x": 3])
        #expect(try world.remoteDocument("foo") == nil)
    }

    /// A device whose inserts of `FOO` the remote answers as MongoDB does where `foo` exists and the
    /// index of `_id` ignores case; it ends after some times, as if that document was deleted.
    private func collidingDevice(
        _ world: SyncWorld, times: Int = .max, answers: Locked<Int>
    ) async throws -> Device {
        var remote = TwistedRemote(base: world.remote)
        remote.writeOutcome = { write in
            guard case .insert = write.action, write.documentID == "FOO" else { return nil }
            let count = answers.withLock { answers in
                answers += 1
                return answers
            }
            return count <= times ? .duplicateKey : nil
        }
        let device = Device(
            name: "A", world: world, store: try DocumentStore(at: .inMemory),
            handler: .remoteWins, remote: remote)
        try await device.start()
        return device
    }

    @Test("an insert that collides with an id which is not found pauses, and says why")
    func idOfOtherCase() async throws {
        let (world, answers) = (try SyncWorld(), Locked(0))
        let a = try await collidingDevice(world, answers: answers)
        try await a.insert(["_id": "FOO", "x": 1])
        try await a.insert(["_id": "other"])
        for _ in 0..<4 { try await a.sync() }
        #expect(try await a.items.pausedIDs == ["FOO"])
        #expect(world.transcript().count { $0 == "A error rejected FOO" } == 1)
        let pause = try a.store.read { transaction in
            let connection = transaction.connection
            let collection = try SyncCollectionTable(connection: connection)
                .existing(SyncWorld.namespace)
            return try SyncRecordTable(connection: connection)
                .record(of: "FOO", in: collection?.rowID ?? 0)?.pause
        }
        #expect(pause?.code == .rejected)
        #expect(pause?.message.contains("_id") == true)
        // What is paused is not waited for.
        try await a.engine.waitForUpload(timeout: .seconds(60))
        #expect(try world.remoteDocument("other") != nil)
        #expect(try await a.local("FOO") == ["_id": "FOO", "x": 1])
        // Once it was resumed, it is tried again.
        let before = answers.withLock { $0 }
        try await a.items.resumeSync(of: "FOO")
        for _ in 0..<4 { try await a.sync() }
        #expect(answers.withLock { $0 } > before)
        #expect(try await a.items.pausedIDs == ["FOO"])
    }

    @Test("an insert that collides with a document which is deleted meanwhile is sent again")
    func collisionPasses() async throws {
        let (world, answers) = (try SyncWorld(), Locked(0))
        let a = try await collidingDevice(world, times: 2, answers: answers)
        try await a.insert(["_id": "FOO", "x": 1])
        try await a.engine.syncUntilQuiet()
        #expect(answers.withLock { $0 } == 3)
        #expect(try await a.items.pausedIDs == [])
        #expect(try world.remoteDocument("FOO") == ["_id": "FOO", "x": 1])
    }

    @Test("a page of a query goes on behind the exact id of the last")
    func pages() async throws {
        let (world, _) = try await world()
        guard !SyncWorld.remoteKind.isShared else { return }
        for id in ["B", "b", "a", "A"] as [BSONValue] {
            try world.foreign(id) { $0["kind"] = "x" }
        }
        try world.foreign("c") { $0["kind"] = "X" }
        let items = world.remote.collection(SyncWorld.namespace)
        var (found, last): ([BSONValue], BSONValue?) = ([], nil)
        while true {
            let page = try await items.find(matching: ["kind": "x"], after: last, limit: 1)
            found += page.documents.map(\.documentID)
            if page.isLast { break }
            last = found.last
        }
        #expect(found == ["A", "B", "a", "b"])
        #expect(try await items.count(matching: ["kind": "x"]) == 4)
    }

    @Test("a typed change by id changes that document on the device, whatever its own collation")
    func localModify() async throws {
        let (_, a) = try await world()
        let options = try CollectionOptions(["collation": ["locale": "en", "strength": 2]])
        try await a.store.write { try $0.createCollection(SyncWorld.namespace, options) }
        try await a.insert(["_id": "foo", "x": 1])
        try await a.insert(["_id": "FOO", "x": 1])
        try await a.items.modify(id: "FOO") { $0["x"] = 2 }
        #expect(try await a.local("foo") == ["_id": "foo", "x": 1])
        #expect(try await a.local("FOO") == ["_id": "FOO", "x": 2])
    }
}
