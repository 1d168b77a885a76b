import BSONStore
import Testing

@testable import StitchSync

/// Every visible change has one event, and every error is told.
@Suite(.remotes)
struct EventScenarios {
    @Test("an event that arose before anybody listened is delivered once somebody does")
    func eventsBeforeConfigure() async throws {
        let world = try SyncWorld()
        let a = Device(
            name: "A", world: world, store: try DocumentStore(at: .inMemory), handler: nil)
        try await a.start()
        try await a.insert(["_id": "k"])
        // The next life of the app syncs before it configures.
        let engine = try SyncEngine(store: a.store, remote: world.remote)
        try await engine.syncNow()
        try await a.start()
        await a.engine.flushEvents()
        #expect(
            world.transcript() == ["A local insert k pending", "A committed insert k settled"])
    }

    @Test("setting a frequency before the listener takes no event from it")
    func frequencyBeforeListener() async throws {
        let world = try SyncWorld()
        let a = Device(
            name: "A", world: world, store: try DocumentStore(at: .inMemory), handler: nil)
        try await a.start()
        try await a.insert(["_id": "j"])
        _ = world.transcript()
        let engine = try SyncEngine(store: a.store, remote: world.remote)
        await engine.collection(SyncWorld.namespace).updateSyncFrequency(.onDemand)
        try await engine.collection(SyncWorld.namespace).insertOne(["_id": "k"])
        try await a.start()
        await a.engine.flushEvents()
        #expect(world.transcript() == ["A local insert k pending"])
    }

    @Test("an event that tells nine megabytes twice does not keep the next from delivery")
    func largeEvent() async throws {
        let world = try SyncWorld()
        let a = try await world.device("A")
        try await a.insert(["_id": "big", "s": ""])
        try await a.set("big", ["s": SyncWorld.bytes(9_000_000)])
        try await a.insert(["_id": "after"])
        #expect(
            world.transcript() == [
                "A local insert big pending", "A local update big pending",
                "A local insert after pending",
            ])
    }

    @Test("the event of an answer describes what changed for the app")
    func resolutionDescribesTheLocalChange() async throws {
        let world = try SyncWorld()
        let events = Locked<[ChangeEvent<BSONDocument>]>([])
        let a = try await world.device("A")
        await a.items.configure(
            conflictHandler: .mergeFields(),
            changeEventListener: { event in events.withLock { $0.append(event) } })
        try await a.insert(["_id": "k", "x": 0, "y": 0])
        try await a.engine.syncUntilQuiet()
        try await a.set("k", ["x": 1])
        try world.foreign("k") { $0["y"] = 5 }
        try await a.sync()
        let event = events.withLock { $0.last { $0.reason == .resolution } }
        #expect(event?.updateDescription?.updatedFields == ["y": 5])
        #expect(event?.fullDocument == ["_id": "k", "x": 1, "y": 5])
    }

    @Test("errors of a pass that a handler ends by cancelling are told, and it goes on")
    func cancellingHandler() async throws {
        let world = try SyncWorld()
        struct Refusal: Error {}
        let a = try await world.device(
            "A",
            handler: ConflictHandler { conflict in
                if conflict.documentID == "k" { throw Refusal() }
                throw CancellationError()
            })
        for id in ["k", "l"] as [BSONValue] {
            try world.foreign(id) { document in
                document["x"] = 9
                document[DocumentVersion.fieldName] = ["spv": 1, "id": "L", "v": .int64(3)]
            }
            try await a.insert(["_id": id, "x": 1])
        }
        try await a.insert(["_id": "other"])
        _ = world.transcript()
        for _ in 0..<2 { try await a.sync() }
        let transcript = world.transcript()
        #expect(transcript.contains("A error handlerFailed k"))
        #expect(transcript.contains("A error handlerFailed l"))
        #expect(try await a.items.pausedIDs == ["k", "l"])
        #expect(try world.remoteDocument("other") != nil)
    }
}
