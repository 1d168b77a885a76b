import BSONStore
import Testing

@testable import StitchSync

/// A write that rules refuse must be taken back without a trace in the documents, and without a loss:
/// realm-core's 88, 89, 90, 92, 93, and 145 and 146 of the acceptance list.
@Suite(.remotes)
struct RejectedWriteScenarios {
    private static func reason(_ id: String) -> String {
        #"write to "\#(id)" in table "items" was denied by write filter in role "owner-read-write""#
    }

    @Test("an Item of somebody else is there, then gone, with the role in the reason")
    func itemExample() async throws {
        let world = try RuledWorld()
        let engine = try await world.engine()
        let log = Locked<[String]>([])
        engine.setLogHandler { line in log.withLock { $0.append(line.text) } }
        let errors = Locked<[SyncError]>([])
        engine.addErrorListener(in: engine.items.namespace) { error in
            errors.withLock { $0.append(error) }
        }
        let id = BSONObjectID()
        try await engine.items.insertMany([
            ["_id": "mine", "ownerId": "ann", "complexity": 4],
            ["_id": .objectID(id), "ownerId": "not the current user's id", "complexity": 1],
        ])
        #expect(try engine.items.find().count() == 2)
        let report = try await engine.passed()
        #expect(report.uploaded == 1 && report.reverted == 1 && report.paused == 0)
        #expect(report.errors == [.compensatingWrite])
        #expect(try engine.items.find().fetch().map(\.documentID) == ["mine"])
        #expect(try world.document("mine") != nil)
        #expect(try world.document(.objectID(id)) == nil)
        let error = try #require(errors.withLock { $0 }.first)
        #expect(error.code == .compensatingWrite && !error.isFatal && error.action == .warning)
        #expect((error.underlying as? CompensatingWriteError)?.code == 231)
        #expect(error.message == CompensatingWrite.text && error.documentID == .objectID(id))
        let write = CompensatingWrite(
            objectName: "items", primaryKey: .objectID(id), reason: Self.reason("\(id)"),
            role: "owner-read-write", cause: .writeFilter(isOfResult: false))
        #expect(error.compensatingWrites == [write])
        let rejected = try await engine.items.rejectedWrites.all()
        #expect(rejected.map(\.compensatingWrite) == [write])
        #expect(rejected.first?.document?["complexity"] == 1 && rejected.first?.base == nil)
        #expect(rejected.first?.change == .insert && rejected.first?.code == 231)
        #expect(try await engine.items.status() == SyncStatus(synced: 1, rejected: 1))
        let lines = log.withLock { $0 }
        #expect(lines.count == 2)
        let received = "Connection[1]: Session[1]: Received: ERROR \"\(CompensatingWrite.text)\" "
        let flags = "(error_code=231, is_fatal=false, error_action=Warning)"
        #expect(lines.first == received + flags)
        let reporting =
            "Connection[1]: Session[1]: Reporting compensating write for client version "
        #expect(lines.last?.hasPrefix(reporting + "2 in server version ") == true)
        #expect(lines.last?.hasSuffix(": " + CompensatingWrite.text) == true)
        // The next legal write is silent.
        try await engine.items.insertOne(["_id": "more", "ownerId": "ann"])
        #expect(try await engine.passed().errors.isEmpty)
        #expect(errors.withLock { $0.count } == 1)
    }

    @Test("an update and a delete that are refused leave what the remote confirmed")
    func updateAndDelete() async throws {
        let world = try RuledWorld()
        let engine = try await world.engine()
        try await engine.items.insertMany([
            ["_id": "given", "ownerId": "ann", "n": 1],
            ["_id": "locked", "ownerId": "ann", "locked": true],
        ])
        try await engine.passed()
        _ = world.transcript()
        try await engine.items.updateOne(["_id": "given"], ["$set": ["ownerId": "zoe", "n": 2]])
        try await engine.items.deleteOne(["_id": "locked"])
        #expect(try await engine.passed().reverted == 2)
        #expect(
            world.transcript() == [
                "local update given pending", "local delete locked pending",
                "compensation update given settled", "compensation insert locked settled",
                "error compensatingWrite given,locked",
            ])
        let given: BSONDocument = ["_id": "given", "ownerId": "ann", "n": 1]
        #expect(try engine.items.findOne(id: "given") == given)
        #expect(try engine.items.findOne(id: "locked")?["locked"] == true)
        let rejected = try await engine.items.rejectedWrites.all()
        #expect(rejected.map(\.change) == [.update, .delete])
        #expect(
            rejected.map(\.compensatingWrite.cause)
                == [.writeFilter(isOfResult: true), .deleteDenied])
        let update = try #require(rejected.first)
        let delete = try #require(rejected.last)
        #expect(update.document?["n"] == 2 && update.base == given)
        #expect(delete.document == nil && delete.base?["locked"] == true)
        #expect(
            delete.reason
                == #"write to "locked" in table "items" not allowed: "#
                + #"role "owner-read-write" allows no delete"#)
        #expect(try await engine.syncUntilQuiet().report.uploaded == 0)
    }

    @Test("two of many are refused: one error lists both, the others arrive")
    func twoOfMany() async throws {
        let world = try RuledWorld()
        let engine = try await world.engine()
        try await engine.items.insertMany(
            (0..<100).map { number in
                [
                    "_id": .string("k\(number)"),
                    "ownerId": number == 7 || number == 77 ? "zoe" : "ann",
                ]
            })
        let report = try await engine.passed()
        #expect(report.uploaded == 98 && report.reverted == 2)
        #expect(world.transcript().suffix(1) == ["error compensatingWrite k7,k77"])
        #expect(try engine.items.find().count() == 98)
        #expect(try await engine.items.status() == SyncStatus(synced: 98, rejected: 2))
    }

    @Test("what the app writes on top of a refused write while it is under way is kept with it")
    func laterEdits() async throws {
        let world = try RuledWorld()
        let engine = try await world.engine()
        try await engine.items.insertOne(["_id": "k", "ownerId": "ann", "n": 1])
        try await engine.passed()
        try await engine.items.updateOne(["_id": "k"], ["$set": ["ownerId": "zoe"]])
        try await engine.items.insertOne(["_id": "new", "ownerId": "zoe"])
        world.remote.after { [world] call in
            guard call.kind == .write else { return }
            world.remote.after(nil)
            try await engine.items.updateOne(["_id": "k"], ["$set": ["n": 2]])
            try await engine.items.deleteOne(["_id": "new"])
        }
        _ = world.transcript()
        #expect(try await engine.passed().reverted == 2)
        #expect(
            try engine.items.findOne(id: "k") == ["_id": "k", "ownerId": "ann", "n": 1])
        let rejected = try await engine.items.rejectedWrites.all()
        #expect(rejected.map(\.hasLaterEdits) == [true, true])
        #expect(rejected[0].document == ["_id": "k", "ownerId": "zoe", "n": 1])
        #expect(rejected[0].laterDocument == ["_id": "k", "ownerId": "zoe", "n": 2])
        #expect(rejected[1].document == ["_id": "new", "ownerId": "zoe"])
        #expect(rejected[1].laterDocument == nil && rejected[1].latestDocument == nil)
        #expect(try await engine.items.status() == SyncStatus(synced: 1, rejected: 2))
    }

    @Test("a remote change that comes in beside the refusal is here after the same pass")
    func remoteChangedMeanwhile() async throws {
        let world = try RuledWorld()
        let engine = try await world.engine()
        try await engine.items.insertOne(["_id": "k", "ownerId": "ann", "n": 1])
        try await engine.passed()
        try await engine.items.updateOne(["_id": "k"], ["$set": ["ownerId": "zoe"]])
        world.remote.after { [world] call in
            guard call.kind == .write else { return }
            world.remote.after(nil)
            try world.foreign("k", ["n": 5])
        }
        #expect(try await engine.passed().reverted == 1)
        #expect(
            try engine.items.findOne(id: "k") == ["_id": "k", "ownerId": "ann", "n": 5])
        #expect(try await engine.items.rejectedWrites.all().first?.base?["n"] == 1)
        #expect(!world.transcript().contains { $0.contains("conflict") })
    }

    @Test("after an illegal change a legal one on the accepted state is taken")
    func legalAgain() async throws {
        let world = try RuledWorld()
        let engine = try await world.engine()
        try await engine.items.insertOne(["_id": "k", "ownerId": "ann", "in": ["a": 1]])
        try await engine.passed()
        try await engine.items.updateOne(["_id": "k"], ["$set": ["ownerId": "zoe"]])
        try await engine.items.updateOne(["_id": "k"], ["$set": ["in.a": 2]])
        try await engine.passed()
        #expect(try engine.items.findOne(id: "k")?["in"] == ["a": 1])
        try await engine.items.updateOne(["_id": "k"], ["$set": ["in.a": 2]])
        #expect(try await engine.passed().uploaded == 1)
        #expect(try world.document("k")?["in"] == ["a": 2])
    }

    @Test("a rejected write is retried once rules allow it, edited, or forgotten")
    func retried() async throws {
        let world = try RuledWorld()
        let engine = try await world.engine()
        try await engine.items.insertOne(["_id": "old", "ownerId": "ann", "n": 1])
        try await engine.passed()
        try await engine.items.insertMany(
            ["a", "b", "c"].map { ["_id": .string($0), "ownerId": "zoe"] })
        try await engine.items.updateOne(["_id": "old"], ["$set": ["ownerId": "zoe"]])
        try await engine.passed()
        let ids = try await engine.items.rejectedWrites.all().map(\.id)
        #expect(ids.count == 4)
        let places = Dictionary(
            uniqueKeysWithValues: try await engine.items.rejectedWrites.all().map {
                (RuledWorld.text($0.documentID), $0.id)
            })
        // A retry that is refused again is rejected again.
        let first: Int64 = try #require(places["a"])
        #expect(try await engine.items.rejectedWrites.retry(first))
        try await engine.passed()
        let again = try await engine.items.rejectedWrites.all()
        #expect(again.count == 4 && again.last?.documentID == "a" && again.last?.id != first)
        #expect(try await engine.items.rejectedWrites.retry(first) == false)
        // An edit that makes it legal is taken.
        let second: Int64 = try #require(places["b"])
        #expect(
            try await engine.items.rejectedWrites.retry(
                second, as: ["_id": "b", "ownerId": "ann"]))
        await #expect(throws: StoreError.self) {
            try await engine.items.rejectedWrites.retry(
                places["c"] ?? 0, as: ["_id": "x", "ownerId": "ann"])
        }
        #expect(try await engine.passed().uploaded == 1)
        #expect(try world.document("b") == ["_id": "b", "ownerId": "ann"])
        #expect(try await engine.items.rejectedWrites.discard(places["c"] ?? 0))
        // Rules that allow it let a plain retry in, on top of what others did meanwhile.
        try world.foreign("old", ["n": 9])
        try await engine.syncUntilQuiet()
        try world.use(RuledWorld.everybody)
        for rejected in try await engine.items.rejectedWrites.all() {
            #expect(try await engine.items.rejectedWrites.retry(rejected.id))
        }
        try await engine.syncUntilQuiet()
        #expect(try world.document("a") == ["_id": "a", "ownerId": "zoe"])
        #expect(try world.document("old") == ["_id": "old", "ownerId": "zoe", "n": 9])
        #expect(try world.document("c") == nil)
        #expect(try await engine.items.rejectedWrites.all().isEmpty)
        #expect(try await engine.items.status() == SyncStatus(synced: 3))
        #expect(try await engine.items.rejectedWrites.discardAll() == 0)
    }

    @Test("an insert is not retried over a document that has come to be")
    func retryOccupied() async throws {
        let world = try RuledWorld()
        let engine = try await world.engine()
        try await engine.items.insertOne(["_id": "k", "ownerId": "zoe"])
        try await engine.passed()
        try await engine.items.insertOne(["_id": "k", "ownerId": "ann", "n": 1])
        try await engine.passed()
        let rejected: RejectedWrite = try #require(
            try await engine.items.rejectedWrites.all().first)
        let error = await #expect(throws: StoreError.self) {
            try await engine.items.rejectedWrites.retry(rejected.id)
        }
        #expect(error?.code == .duplicateKey)
        #expect(try await engine.items.rejectedWrites.write(id: rejected.id) == rejected)
        let edited = await #expect(throws: StoreError.self) {
            try await engine.items.rejectedWrites.retry(
                rejected.id, as: ["_id": "k", "ownerId": "ann", "n": 2])
        }
        #expect(edited?.code == .duplicateKey)
        #expect(try engine.items.findOne(id: "k")?["n"] == 1)
    }

    @Test("an edited retry keeps what others wrote since")
    func editedRetryOverLaterEdits() async throws {
        let world = try RuledWorld()
        let engine = try await world.engine()
        try await engine.items.insertOne(["_id": "k", "ownerId": "ann", "n": 1, "note": "x"])
        try await engine.passed()
        try await engine.items.updateOne(["_id": "k"], ["$set": ["ownerId": "zoe", "n": 5]])
        try await engine.passed()
        let rejected: RejectedWrite = try #require(
            try await engine.items.rejectedWrites.all().first)
        try world.foreign("k", ["note": "y"])
        try await engine.syncUntilQuiet()
        #expect(
            try await engine.items.rejectedWrites.retry(
                rejected.id, as: ["_id": "k", "ownerId": "ann", "n": 6, "note": "x"]))
        try await engine.syncUntilQuiet()
        #expect(
            try world.document("k") == ["_id": "k", "ownerId": "ann", "n": 6, "note": "y"])
    }

    @Test("a retry of a field with a dot, and of one that others removed, keeps the rest")
    func retryOfOddFields() async throws {
        let world = try RuledWorld()
        let engine = try await world.engine()
        let before: BSONDocument = [
            "_id": "k", "ownerId": "ann", "a.b": 1, "in": ["a": 1], "note": "x",
        ]
        try await engine.items.insertOne(before)
        try await engine.passed()
        var after = before
        (after["ownerId"], after["a.b"], after["in"]) = ("zoe", 5, ["a": 3])
        try await engine.items.replaceOne(["_id": "k"], after)
        try await engine.passed()
        let rejected: RejectedWrite = try #require(
            try await engine.items.rejectedWrites.all().first)
        try world.foreign("k", ["note": "y", "in": nil])
        try await engine.syncUntilQuiet()
        after["ownerId"] = "ann"
        #expect(try await engine.items.rejectedWrites.retry(rejected.id, as: after))
        try await engine.syncUntilQuiet()
        let document = try #require(try world.document("k"))
        #expect(document["a.b"] == 5 && document["in"] == ["a": 3] && document["note"] == "y")
    }

    @Test("a report that nobody took is given after a restart, until it was taken")
    func toldUntilTaken() async throws {
        let world = try RuledWorld()
        let store = try DocumentStore(at: .inMemory)
        let silent = try SyncEngine(store: store, remote: world.remote)
        try await silent.items.insertMany(
            ["a", "b"].map { ["_id": .string($0), "ownerId": "zoe"] })
        try await silent.syncNow()
        await silent.flushEvents()
        // The listener is called, and the process dies before it returns.
        let (reached, release) = (Signal(), Signal())
        let dying = try SyncEngine(store: store, remote: world.remote)
        await dying.items.configure(
            conflictHandler: .remoteWins,
            errorListener: { error, _ in
                world.note("dying \(error.compensatingWrites.count)")
                reached.notify()
                await release.wait(after: 0)
            })
        while reached.count == 0 { await reached.wait(after: 0) }
        let next = try await world.engine(store)
        await next.flushEvents()
        #expect(
            Set(world.transcript()) == [
                "dying 2", "error compensatingWrite a,b",
            ])
        release.notify()
        await dying.flushEvents()
        let last = try await world.engine(store)
        try await last.passed()
        #expect(world.transcript().isEmpty)
        #expect(try await last.items.rejectedWrites.all().count == 2)
    }

    @Test("a lost answer to a refused write is not told twice")
    func lostAnswer() async throws {
        let world = try RuledWorld()
        let engine = try await world.engine()
        try await engine.items.insertOne(["_id": "a", "ownerId": "zoe"])
        world.remote.after { [world] call in
            guard call.kind == .write else { return }
            world.remote.after(nil)
            throw RemoteError(.retryable, "cut")
        }
        try await engine.passed()
        #expect(try await engine.items.status(of: "a") != .notSynced)
        _ = world.transcript()
        try await engine.syncUntilQuiet()
        await engine.flushEvents()
        #expect(
            world.transcript() == ["compensation delete a settled", "error compensatingWrite a"])
        #expect(try await engine.items.rejectedWrites.all().count == 1)
    }
}
