import BSONStore
import Testing

@testable import StitchSync

/// What rules hide is not deleted, whenever and however the device finds that it is not there: 148 of
/// the acceptance list, for changes that are noted first and looked at later.
@Suite(.remotes)
struct ViewScenarios {
    /// Ann sees what is hers.
    private static let own = """
        [{"name": "own", "apply_when": {},
          "document_filters": {"read": {"ownerId": "ann"}, "write": {"ownerId": "ann"}},
          "read": true, "write": true}]
        """

    private static let documents: [BSONDocument] = ["gone", "left", "stays"].map {
        ["_id": .string($0), "ownerId": "ann"]
    }

    /// Two devices of Ann's hold all three documents: one by their ids, one by a query.
    private static func devices(_ world: RuledWorld) async throws -> [SyncEngine] {
        try fill(world)
        let byID = try await world.engine()
        try await byID.items.sync(ids: ["gone", "left", "stays"])
        let byQuery = try await world.engine()
        try await byQuery.items.subscribe(named: "all")
        for engine in [byID, byQuery] {
            try await engine.syncUntilQuiet()
            await engine.flushEvents()
            #expect(try engine.items.find().count() == 3)
        }
        _ = world.transcript()
        return [byID, byQuery]
    }

    private static func fill(_ world: RuledWorld) throws {
        try world.stored.write { transaction in
            for document in documents { try transaction.put(RuledWorld.items, document) }
        }
    }

    private static func change(_ world: RuledWorld) throws {
        try world.foreign("left", ["ownerId": "ben"])
        try remove("gone", world)
    }

    private static func remove(_ id: BSONValue, _ world: RuledWorld) throws {
        _ = try world.stored.write { try $0.remove(RuledWorld.items, id: id) }
    }

    /// Runs a body for a device that holds the documents by their ids, and for one by a query.
    private static func each(_ body: (SyncEngine, RuledWorld) async throws -> Void) async throws {
        for index in 0..<2 {
            let world = try RuledWorld(own)
            try await body(try await devices(world)[index], world)
            #expect(world.transcript().filter { $0.hasPrefix("error") } == [])
        }
    }

    /// Has a step run once, before the engine's next write.
    private static func once(
        _ world: RuledWorld, _ step: @escaping @Sendable () async throws -> Void
    ) {
        let isDone = Locked(false)
        world.remote.before { call in
            guard call.kind == .write, !isDone.withLock({ $0 }) else { return }
            isDone.withLock { $0 = true }
            try await step()
        }
    }

    @Test("a change of a document that is deleted during the upload meets a delete, no denial")
    func deletedInUpload() async throws {
        try await Self.each { engine, world in
            try await engine.items.updateOne(["_id": "gone"], ["$set": ["n": 1]])
            Self.once(world) { try Self.remove("gone", world) }
            try await engine.syncUntilQuiet()
            await engine.flushEvents()
            #expect(try await engine.items.rejectedWrites.all().isEmpty)
            #expect(try engine.items.findOne(id: "gone") == nil)
            #expect(try engine.items.find().count() == 2)
        }
    }

    @Test("a change of a document that leaves the view during the upload is refused")
    func hiddenInUpload() async throws {
        for index in 0..<2 {
            let world = try RuledWorld(Self.own)
            let engine = try await Self.devices(world)[index]
            try await engine.items.updateOne(["_id": "left"], ["$set": ["n": 1]])
            Self.once(world) { try world.foreign("left", ["ownerId": "ben"]) }
            try await engine.syncUntilQuiet()
            await engine.flushEvents()
            #expect(try await engine.items.rejectedWrites.all().map(\.documentID) == ["left"])
            #expect(try engine.items.findOne(id: "left") == nil)
            #expect(try world.document("left") == ["_id": "left", "ownerId": "ben"])
        }
    }

    @Test("a delete that was executed already, and an insert of the same id meanwhile, both count")
    func repeatedDelete() async throws {
        try await Self.each { engine, world in
            try await engine.items.deleteOne(["_id": "gone"])
            Self.once(world) {
                // An earlier copy of the request, and then the app.
                try Self.remove("gone", world)
                try await engine.items.insertOne(["_id": "gone", "ownerId": "ann", "n": 2])
            }
            try await engine.syncUntilQuiet()
            await engine.flushEvents()
            #expect(try world.document("gone")?["n"] == 2)
            #expect(try engine.items.findOne(id: "gone")?["n"] == 2)
            #expect(try await engine.items.rejectedWrites.all().isEmpty)
        }
    }

    @Test("noted before the look: what left the view is evicted, what was deleted is deleted")
    func noted() async throws {
        let world = try RuledWorld(Self.own)
        for engine in try await Self.devices(world) {
            if try world.document("gone") != nil { try Self.change(world) }
            // The history is read, then the way is gone: the changes are noted.
            world.remote.before { call in
                if call.kind == .find { throw RemoteError(.retryable, "no network") }
            }
            _ = try await engine.syncNow()
            #expect(try engine.items.find().count() == 3)
            #expect(try await engine.items.status().toLook == 2)
            world.remote.before(nil)
            await engine.flushEvents()
            _ = world.transcript()
            try await engine.passed()
            let lines = world.transcript().filter { !$0.hasPrefix("error remoteUnavailable") }
            #expect(
                Set(lines) == [
                    "remote delete gone settled", "remote evict left settled",
                ])
            #expect(try engine.items.find().fetch().map(\.documentID) == ["stays"])
        }
        #expect(try world.document("left") != nil)
        // What comes back into the view arrives again.
        try world.foreign("left", ["ownerId": "ann"])
        let again = try await world.engine()
        try await again.items.subscribe(named: "all")
        #expect(try again.items.find().count() == 2)
    }

    @Test("at once, too: the news says which it was")
    func atOnce() async throws {
        let world = try RuledWorld(Self.own)
        for engine in try await Self.devices(world) {
            if try world.document("gone") != nil { try Self.change(world) }
            try await engine.passed()
            #expect(
                Set(world.transcript()) == [
                    "remote delete gone settled", "remote evict left settled",
                ])
        }
    }

    @Test("what left the view and was deleted then is evicted: nobody may learn what became of it")
    func deletedOutOfView() async throws {
        let world = try RuledWorld(Self.own)
        for engine in try await Self.devices(world) {
            try world.foreign("left", ["ownerId": "ann"])
            try await engine.syncUntilQuiet()
            try world.foreign("left", ["ownerId": "ben"])
            world.remote.before { call in
                if call.kind == .find { throw RemoteError(.retryable, "no network") }
            }
            _ = try await engine.syncNow()
            world.remote.before(nil)
            try Self.remove("left", world)
            await engine.flushEvents()
            _ = world.transcript()
            try await engine.passed()
            let lines = world.transcript().filter { !$0.hasPrefix("error remoteUnavailable") }
            #expect(lines == ["remote evict left settled"])
        }
    }

    @Test(
        "a delete that was lost on its way does not count as done when the document leaves the view"
    )
    func lostDelete() async throws {
        let world = try RuledWorld(Self.own)
        for engine in try await Self.devices(world) {
            try Self.fill(world)
            try await engine.syncUntilQuiet()
            try await engine.items.deleteOne(["_id": "gone"])
            world.remote.before { call in
                if call.kind == .write { throw RemoteError(.retryable, "no network") }
            }
            _ = try await engine.syncNow()
            world.remote.before(nil)
            await engine.flushEvents()
            _ = world.transcript()
            try world.foreign("gone", ["ownerId": "ben"])
            try await engine.syncUntilQuiet()
            await engine.flushEvents()
            #expect(!world.transcript().contains { $0.hasPrefix("committed") })
            let rejected = try await engine.items.rejectedWrites.all()
            #expect(rejected.map(\.documentID) == ["gone"])
            #expect(try world.document("gone") != nil)
            #expect(try await engine.items.rejectedWrites.discardAll() == 1)
        }
    }

    @Test("a delete behind a write whose answer was lost is a delete")
    func deletedBehindOwnWrite() async throws {
        let world = try RuledWorld(Self.own)
        for engine in try await Self.devices(world) {
            if try world.document("gone") == nil { try world.foreign("gone", ["ownerId": "ann"]) }
            try await engine.syncUntilQuiet()
            world.remote.after { call in
                if call.kind == .write { throw RemoteError(.retryable, "lost") }
            }
            try await engine.items.updateOne(["_id": "gone"], ["$set": ["n": 1]])
            _ = try await engine.syncNow()
            world.remote.after(nil)
            #expect(try world.document("gone")?["n"] == 1)
            try Self.remove("gone", world)
            await engine.flushEvents()
            _ = world.transcript()
            try await engine.passed()
            let lines = world.transcript()
            #expect(lines.contains("remote delete gone settled"), "\(lines)")
            #expect(!lines.contains { $0.contains("evict") }, "\(lines)")
        }
    }

    @Test("a delete that was followed by an insert says nothing of what is not seen then")
    func insertedAnew() async throws {
        let world = try RuledWorld(Self.own)
        let engine = try await Self.devices(world)[1]
        try Self.remove("left", world)
        try world.foreign("left", ["ownerId": "ann", "n": 1])
        // It leaves the view between the news and the look.
        world.remote.before { call in
            guard call.kind == .find else { return }
            world.remote.before(nil)
            try world.foreign("left", ["ownerId": "ben"])
        }
        try await engine.passed()
        let lines = world.transcript()
        #expect(lines.contains("remote evict left settled"), "\(lines)")
        #expect(!lines.contains { $0.contains("delete") }, "\(lines)")
    }

    @Test("after a gap in the history nothing that rules may hide counts as deleted")
    func gap() async throws {
        let world = try RuledWorld(Self.own)
        for engine in try await Self.devices(world) {
            if try world.document("gone") != nil { try Self.change(world) }
            world.remote.before { call in
                if call.kind == .changes { throw RemoteError(.historyLost, code: 286, "gone") }
            }
            try await engine.passed()
            world.remote.before(nil)
            // A store in the process can tell; a server must not say what its rules hide.
            let gone = SyncWorld.remoteKind == .inProcess ? "delete" : "evict"
            #expect(
                Set(world.transcript()) == [
                    "remote \(gone) gone settled", "remote evict left settled",
                ])
            #expect(try engine.items.find().fetch().map(\.documentID) == ["stays"])
        }
    }

    @Test("what is not seen is not taken for deleted either where an answer comes in pieces")
    func largeAnswer() async throws {
        let world = try RuledWorld(Self.own)
        let ids: [BSONValue] = ["a", "b", "c"]
        for id in ids {
            try world.foreign(id, ["ownerId": "ann", "bytes": SyncWorld.bytes(7_000_000)])
        }
        try world.foreign("theirs", ["ownerId": "ben"])
        let found = try await world.remote.collection(RuledWorld.items).find(ids: ids + ["theirs"])
        #expect(found.count == 4 && found.last == .hidden)
    }

    @Test("after a gap what is missing was deleted, for a user who sees everything")
    func gapOfEverything() async throws {
        let world = try RuledWorld()
        for engine in try await Self.devices(world) {
            if try world.document("gone") != nil { try Self.change(world) }
            try await engine.forceScan(RuledWorld.items)
            try await engine.passed()
            #expect(world.transcript().contains("remote delete gone settled"))
            #expect(
                try Set(engine.items.find().fetch().map(\.documentID)) == ["left", "stays"])
        }
    }

    @Test("a change of what the user may no longer see is kept as a rejected write, and no delete")
    func pending() async throws {
        let world = try RuledWorld(Self.own)
        for engine in try await Self.devices(world) {
            try Self.fill(world)
            try await engine.syncUntilQuiet()
            try await engine.items.updateOne(["_id": "left"], ["$set": ["n": 1]])
            try await engine.items.deleteOne(["_id": "gone"])
            await engine.flushEvents()
            _ = world.transcript()
            for id in ["left", "gone"] as [BSONValue] { try world.foreign(id, ["ownerId": "ben"]) }
            try await engine.syncUntilQuiet()
            await engine.flushEvents()
            #expect(
                world.transcript().sorted() == [
                    "compensation insert gone settled", "compensation update left settled",
                    "error compensatingWrite left,gone", "remote evict gone settled",
                    "remote evict left settled",
                ])
            let kept = try await engine.items.rejectedWrites.all()
                .sorted { $0.change.rawValue < $1.change.rawValue }
            #expect(kept.map(\.change) == [.delete, .update])
            #expect(kept.map(\.document) == [nil, ["_id": "left", "ownerId": "ann", "n": 1]])
            #expect(kept.map(\.base?["ownerId"]) == ["ann", "ann"])
            #expect(kept.map(\.compensatingWrite.cause) == [.notAllowed, .notAllowed])
            #expect(try await engine.verify() == [])
            for id in ["left", "gone"] as [BSONValue] {
                #expect(try world.document(id) == ["_id": id, "ownerId": "ben"])
                try world.foreign(id, ["ownerId": "ann"])
            }
            // Granted again it comes back, and what was kept can be made once more.
            try await engine.syncUntilQuiet()
            for write in kept { try await engine.items.rejectedWrites.retry(write.id) }
            try await engine.syncUntilQuiet()
            #expect(try world.document("left")?["n"] == 1)
            #expect(try world.document("gone") == nil)
        }
    }

    @Test("where refused changes pause, one of what is hidden does, too, until it is seen again")
    func pausedWhileHidden() async throws {
        let world = try RuledWorld(Self.own)
        try Self.fill(world)
        let engine = try await world.engine(policy: .pause)
        try await engine.items.subscribe(named: "all")
        try await engine.items.updateOne(["_id": "left"], ["$set": ["n": 1]])
        try world.foreign("left", ["ownerId": "ben"])
        try await engine.syncUntilQuiet()
        #expect(try await engine.items.pausedIDs == ["left"])
        #expect(try engine.items.findOne(id: "left")?["n"] == 1)
        try await engine.items.resumeSync(of: "left")
        try await engine.syncUntilQuiet()
        #expect(try await engine.items.pausedIDs == ["left"])
        try world.foreign("left", ["ownerId": "ann"])
        try await engine.items.updateOne(["_id": "left"], ["$set": ["m": 1]])
        try await engine.syncUntilQuiet()
        #expect(try await engine.items.pausedIDs == [])
        #expect(try await engine.verify() == [])
    }
}
