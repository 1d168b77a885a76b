import BSONStore
import Testing

@testable import StitchSync

/// New documents are stored several at a time, and what was of use to an upload is cleared away behind
/// it: neither may be noticed.
@Suite(.remotes)
struct ArrivalScenarios {
    private static let ids = (0..<19).map { BSONValue.int32($0) }

    /// Puts a document with a version into the remote, which nobody has to claim first.
    private static func put(
        _ world: SyncWorld, _ id: BSONValue, _ x: BSONValue = 0,
        version: BSONDocument = ["spv": 1, "id": "L", "v": .int64(0)]
    ) throws {
        try world.foreign(id) { document in
            document["x"] = x
            document[DocumentVersion.fieldName] = .document(version)
        }
    }

    private static func fill(_ world: SyncWorld) throws {
        for id in ids { try put(world, id) }
    }

    /// An engine of small batches that has had all documents, changed each, and run a pass.
    ///
    /// - Parameter interlude: what happens before the third batch of that pass is written.
    private static func engine(
        in world: SyncWorld,
        beforeThirdBatch interlude:
            @escaping @Sendable (SyncCollection<BSONDocument>) async throws -> Void
    ) async throws -> SyncEngine {
        try fill(world)
        var limits = SyncLimits()
        limits.batchDocuments = 4
        let engine = try SyncEngine(
            store: try DocumentStore(at: .inMemory), remote: world.remote, limits: limits)
        let items = engine.collection(SyncWorld.namespace)
        try await items.sync(ids: ids)
        try await engine.syncUntilQuiet()
        try await items.updateMany([:], ["$set": ["x": 1]])
        let batches = Locked(0)
        world.remote.before { call in
            guard call.kind == .write else { return }
            let number = batches.withLock { number in
                number += 1
                return number
            }
            if number == 3 { try await interlude(items) }
        }
        try await engine.syncNow()
        return engine
    }

    @Test("new documents come with their events and records, also of several kinds of ids")
    func manyArrive() async throws {
        let world = try SyncWorld()
        let ids: [BSONValue] = Self.ids + ["a", .objectID(BSONObjectID()), 1.5]
        for id in ids { try Self.put(world, id) }
        let a = try await world.device("A")
        try await a.items.sync(ids: ids + [99])
        try await a.sync()
        #expect(world.transcript() == ids.map { "A remote replace \(Device.text($0)) settled" })
        #expect(try await a.items.status() == SyncStatus(synced: 23))
        #expect(try await a.items.syncedIDs.count == 23)
        for id in ids { #expect(try await a.local(id) == ["_id": id, "x": 0]) }
        // What was stored together is a record like others.
        for id in ids { try await a.set(id, ["x": 1]) }
        try await a.engine.syncUntilQuiet()
        for id in ids { #expect(try world.remoteDocument(id) == ["_id": id, "x": 1]) }
        #expect(try await a.engine.verify() == [])
    }

    @Test("a document that is here unseen among many new ones is compared, the others come")
    func oneIsHere() async throws {
        let world = try SyncWorld()
        try Self.fill(world)
        let a = try await world.device("A")
        try await a.items.sync(ids: Self.ids)
        try await a.insertPastSync(["_id": 7, "x": "mine"])
        try await a.engine.syncUntilQuiet()
        for id in Self.ids { #expect(try await a.local(id) == ["_id": id, "x": 0]) }
        #expect(try await a.items.status() == SyncStatus(synced: 19))
        #expect(try await a.engine.verify() == [])
    }

    @Test("a unique index refuses one of many new documents, the others come")
    func oneIsRefused() async throws {
        let world = try SyncWorld()
        for id in Self.ids { try Self.put(world, id, id == 12 ? 3 : id) }
        let a = try await world.device("A")
        try a.store.collection(SyncWorld.namespace).createIndex(["x": 1], ["unique": true])
        try await a.items.sync(ids: Self.ids)
        try await a.sync()
        #expect(try await a.items.pausedIDs == [12])
        #expect(try a.items.find().fetch().count == 18)
    }

    @Test("what a unique index refuses comes once other news made room for it")
    func roomIsMade() async throws {
        let world = try SyncWorld()
        for id in 0..<3 as Range<Int32> { try Self.put(world, .int32(id), .int32(id)) }
        let a = try await world.device("A")
        try a.store.collection(SyncWorld.namespace).createIndex(["x": 1], ["unique": true])
        try await a.items.sync(ids: [0, 1, 2])
        try await a.settle()
        // Each takes what the next one had.
        for id in 0..<3 as Range<Int32> { try Self.put(world, .int32(id), .int32(id + 1)) }
        try await a.settle()
        #expect(try a.items.find().fetch().map { $0["x"] } == [1, 2, 3])
        #expect(try await a.items.status() == SyncStatus(synced: 3))
        // Two that exchange theirs make room for each other.
        for id in 0..<2 as Range<Int32> { try Self.put(world, .int32(id), .int32(2 - id)) }
        try await a.settle()
        #expect(try a.items.find().fetch().map { $0["x"] } == [2, 1, 3])
        #expect(try await a.items.pausedIDs == [])
    }

    @Test("a change that is discarded while the remote is asked is not brought back by a pause")
    func discardedMeanwhile() async throws {
        let world = try SyncWorld()
        for id in 0..<2 as Range<Int32> { try Self.put(world, .int32(id), .int32(id)) }
        let a = try await world.device("A")
        try a.store.collection(SyncWorld.namespace).createIndex(["x": 1], ["unique": true])
        try await a.items.sync(ids: [0, 1])
        try await a.settle()
        try await a.set(0, ["y": 1])
        try world.foreign(0) { $0["x"] = 1 }
        world.remote.after { call in
            guard call.kind == .find else { return }
            world.remote.after(nil)
            try await a.items.discardPendingChange(of: 0)
        }
        try await a.sync()
        try await a.settle()
        #expect(try await a.items.pausedIDs == [0])
        #expect(try await a.items.status(of: 0).pauseReason?.code == .unusableDocument)
        try world.foreign(0) { $0["x"] = 5 }
        try await a.sync()
        #expect(try await a.items.resumeSync(of: 0))
        try await a.settle()
        #expect(try await a.local(0)?["x"] == 5)
    }

    @Test("many new documents and one of somebody else's version come together")
    func oneIsForeign() async throws {
        let world = try SyncWorld()
        try Self.fill(world)
        try Self.put(world, 5, version: ["spv": 2, "v": "?"])
        let a = try await world.device("A")
        try await a.items.sync(ids: Self.ids)
        try await a.sync()
        try await a.sync()
        #expect(try await a.local(5) == ["_id": 5, "x": 0])
        #expect(world.transcript().filter { $0.contains("error") } == ["A error foreignVersion 5"])
        #expect(try await a.items.status() == SyncStatus(synced: 19))
    }

    // MARK: - Bases

    private func bases(of device: Device) throws -> Int64? {
        try device.store.read { try $0.connection.int64("SELECT count(*) FROM sync_bases") }
    }

    @Test("an upload of all that was pending leaves no base behind")
    func noBases() async throws {
        let world = try SyncWorld()
        try Self.fill(world)
        let a = try await world.device("A")
        try await a.items.sync(ids: Self.ids)
        try await a.engine.syncUntilQuiet()
        try await a.items.updateMany([:], ["$set": ["x": 1]])
        #expect(try bases(of: a) == 19)
        try await a.sync()
        #expect(try bases(of: a) == 0)
    }

    @Test("what is not sent keeps its base, and nothing else does")
    func pausedKeepsBase() async throws {
        let world = try SyncWorld()
        try Self.fill(world)
        let a = try await world.device("A")
        try await a.items.sync(ids: Self.ids)
        try await a.engine.syncUntilQuiet()
        try await a.items.updateMany([:], ["$set": ["x": 1]])
        world.remote.outcomes { call, outcomes in
            zip(call.documentIDs, outcomes).map { id, outcome in
                id == 3 ? .failed(RemoteError(.rejected, code: 121, "no")) : outcome
            }
        }
        try await a.sync()
        #expect(try await a.items.pausedIDs == [3])
        #expect(try bases(of: a) == 1)
        world.remote.outcomes(nil)
        #expect(try await a.items.discardPendingChange(of: 3))
        #expect(try await a.local(3) == ["_id": 3, "x": 0])
    }

    @Test("what the app changes again while later batches are sent keeps its new base")
    func changedMeanwhile() async throws {
        let world = try SyncWorld()
        let engine = try await Self.engine(in: world) { items in
            try await items.updateOne(["_id": 0], ["$set": ["x": 2]])
        }
        let items = engine.collection(SyncWorld.namespace)
        #expect(try await engine.verify() == [])
        #expect(try world.remoteDocument(0) == ["_id": 0, "x": 1])
        #expect(try await items.discardPendingChange(of: 0))
        #expect(try items.findOne(id: 0) == ["_id": 0, "x": 1])
    }

    @Test("a base that an upload left behind when it was interrupted does no harm")
    func interrupted() async throws {
        let world = try SyncWorld()
        let engine = try await Self.engine(in: world) { _ in
            throw RemoteError(.retryable, "gone")
        }
        let items = engine.collection(SyncWorld.namespace)
        world.remote.before(nil)
        try await items.updateOne(["_id": 0], ["$set": ["x": 2]])
        #expect(try await items.discardPendingChange(of: 0))
        #expect(try items.findOne(id: 0) == ["_id": 0, "x": 1])
        try await items.desync(ids: [1])
        let left = try engine.store.read {
            try $0.connection.int64(
                """
                SELECT count(*) FROM sync_bases
                WHERE document NOT IN (SELECT id FROM sync_documents)
                """)
        }
        #expect(left == 0)
        try await engine.syncUntilQuiet()
        #expect(try await items.status() == SyncStatus(synced: 18))
        #expect(try await engine.verify() == [])
        let count = try engine.store.read {
            try $0.connection.int64("SELECT count(*) FROM sync_bases")
        }
        #expect(count == 0)
    }
}
