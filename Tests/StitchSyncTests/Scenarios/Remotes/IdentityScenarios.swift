import BSONStore
import Foundation
import Testing

@testable import StitchSync

/// Two stores under one name, or two engines on one store, would take each other's writes for theirs.
@Suite(.remotes)
struct IdentityScenarios {
    /// Two engines of one file, of which the first syncs it.
    private static func engines(
        _ directory: ScratchDirectory, _ world: SyncWorld
    ) async throws -> (syncing: SyncEngine, other: SyncEngine) {
        let path = directory.path("a.db")
        func engine() throws -> SyncEngine {
            try SyncEngine(store: try DocumentStore(at: .file(path)), remote: world.remote)
        }
        let (syncing, other) = try (engine(), engine())
        try await syncing.syncNow()
        return (syncing, other)
    }

    @Test("one engine at a time syncs a file")
    func lease() async throws {
        let directory = try ScratchDirectory()
        let world = try SyncWorld()
        let path = directory.path("a.db")
        let second = try SyncEngine(
            store: try DocumentStore(at: .file(path)), remote: world.remote)
        let first = try SyncEngine(
            store: try DocumentStore(at: .file(path)), remote: world.remote)
        try await first.syncNow()
        let error = await #expect(throws: SyncError.self) { try await second.syncNow() }
        #expect(error?.code == .storeInUse)
        try await first.release()
        try await second.syncNow()
    }

    @Test(
        "who waits for a set in another engine on the file learns of it when the one that syncs has it",
        .timeLimit(.minutes(30)))
    func waitingBesideAnother() async throws {
        let directory = try ScratchDirectory()
        let world = try SyncWorld()
        for number in 1...4 as ClosedRange<Int32> {
            try world.foreign(.int32(number)) { $0["n"] = .int32(number) }
        }
        let (syncing, waiting) = try await Self.engines(directory, world)
        let items = waiting.collection(SyncWorld.namespace)
        let query = try SubscriptionQuery(items.find(["n": ["$lte": 2]]))
        let set = try await waiting.subscriptions.update { $0.insertOrAssign(query, named: "low") }
        // The remote answers once both wait.
        let asked = Signal()
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask {
                asked.notify()
                try await waiting.subscriptions.waitForSynchronization(of: set.version)
            }
            group.addTask {
                asked.notify()
                for try await set in waiting.subscriptions.updates where set.state == .complete {
                    return
                }
            }
            group.addTask {
                asked.notify()
                for try await status in items.statusUpdates where status.synced == 2 { return }
            }
            for count in 0..<3 { await asked.wait(after: count) }
            try await syncing.syncUntilQuiet()
            try await group.waitForAll()
        }
        #expect(try items.find().fetch().map(\.documentID) == [1, 2])
        // One that lets go, or dies, leaves the rest to who waits.
        try await syncing.release()
        try await items.subscribe(to: ["n": 4], timeout: .seconds(60))
        #expect(try items.find().count() == 3)
    }

    @Test(
        "who waits for an upload beside the engine that syncs the file waits for that one",
        .timeLimit(.minutes(30)))
    func uploadingBesideAnother() async throws {
        let directory = try ScratchDirectory()
        let world = try SyncWorld()
        let (syncing, waiting) = try await Self.engines(directory, world)
        let items = waiting.collection(SyncWorld.namespace)
        try await waiting.waitForUpload()
        try await items.insertOne(["_id": 1])
        await #expect(throws: SyncError.self) {
            try await waiting.waitForDownload(timeout: .seconds(60))
        }
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask {
                try await waiting.waitForUpload()
                #expect(try world.remoteDocument(1) != nil)
            }
            group.addTask { try await syncing.syncUntilQuiet() }
            try await group.waitForAll()
        }
        #expect(try await items.pendingIDs == [])
    }

    @Test("a lease that is refused closes its own file and no other", .timeLimit(.minutes(30)))
    func refusedLease() async throws {
        let directory = try ScratchDirectory()
        let path = directory.path("a.lock")
        let held = try SyncLease(path: path)
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask {
                for _ in 0..<3_000 {
                    #expect(throws: SyncError.self) { try SyncLease(path: path) }
                }
            }
            group.addTask {
                // A file that somebody else closes under us answers "bad descriptor".
                for _ in 0..<3_000 {
                    let descriptor = open("/dev/null", O_RDONLY | O_CLOEXEC)
                    #expect(descriptor >= 0 && fcntl(descriptor, F_GETFD) >= 0)
                    #expect(close(descriptor) == 0)
                }
            }
            try await group.waitForAll()
        }
        _ = held
    }

    @Test(
        "a lease that ends is free, though a process that is being started has a copy of its file")
    func copiedLease() throws {
        let directory = try ScratchDirectory()
        let path = directory.path("a.lock")
        var held: SyncLease? = try SyncLease(path: path)
        // The descriptor of the lease, by the file that it has open.
        var own = stat()
        #expect(stat(path, &own) == 0)
        let descriptor = try #require(
            (0..<4_096 as Range<Int32>).first { number in
                var file = stat()
                return fstat(number, &file) == 0 && file.st_ino == own.st_ino
                    && file.st_dev == own.st_dev
            })
        let copy = dup(descriptor)
        #expect(copy >= 0)
        #expect(throws: SyncError.self) { try SyncLease(path: path) }
        held = nil
        #expect(held == nil)
        #expect(throws: Never.self) { try SyncLease(path: path) }
        #expect(close(copy) == 0)
    }

    @Test("a copied store is another instance: its lost write is not taken for its twin's")
    func copiedStore() async throws {
        let directory = try ScratchDirectory()
        let world = try SyncWorld()
        let path = directory.path("a.db")
        do {
            let store = try DocumentStore(at: .file(path))
            let items = try SyncEngine(store: store, remote: world.remote)
                .collection(SyncWorld.namespace)
            try await items.insertOne(["_id": "k", "x": 0])
            try await items.engine.syncUntilQuiet()
            try await items.engine.release()
            store.close()
        }
        let copy = directory.path("b.db")
        for part in ["", "-wal"] where FileManager.default.fileExists(atPath: path + part) {
            try FileManager.default.copyItem(atPath: path + part, toPath: copy + part)
        }
        let a = Device(
            name: "A", world: world, store: try DocumentStore(at: .file(path)),
            handler: .localWins)
        let b = Device(
            name: "B", world: world, store: try DocumentStore(at: .file(copy)),
            handler: .localWins)
        try await a.start()
        try await b.start()
        try await a.set("k", ["x": 1])
        try await b.set("k", ["x": 2])
        world.remote.before { call in
            guard call.kind == .write else { return }
            world.remote.before(nil)
            throw RemoteError(.retryable, "cut")
        }
        try await b.sync()
        try await a.sync()
        try await b.sync()
        #expect(world.transcript().contains("B conflict base x=0 local x=2 remote x=1"))
        try await b.sync()
        #expect(try world.remoteDocument("k") == ["_id": "k", "x": 2])
    }

    @Test("an attempt of an earlier start is settled by the next")
    func attemptOutlivesInstance() async throws {
        let world = try SyncWorld()
        let a = try await world.device("A", handler: nil)
        try await a.insert(["_id": "k", "x": 0])
        world.remote.after { call in
            if call.kind == .write { throw RemoteError(.retryable, "lost") }
        }
        try await a.sync()
        world.remote.after(nil)
        try await a.start()
        try await a.sync()
        #expect(try await a.items.status() == SyncStatus(synced: 1))
        #expect(world.transcript().last == "A committed insert k settled")
        #expect(try world.remoteChanged(times: 1))
    }

    @Test("a collection whose remote fails does not keep the others from their turn")
    func otherCollections() async throws {
        let world = try SyncWorld()
        let engine = try SyncEngine(
            store: try DocumentStore(at: .inMemory), remote: world.remote)
        let failing = engine.collection(Namespace(SyncWorld.database, "failing"))
        let items = engine.collection(SyncWorld.namespace)
        try await failing.insertOne(["_id": "f"])
        try await items.insertOne(["_id": "k"])
        world.remote.before { call in
            if call.documentIDs == ["f"] { throw RemoteError(.retryable, "down") }
        }
        let report = try await engine.syncNow()
        #expect(report.errors == [.remoteUnavailable] && report.uploaded == 1)
        #expect(try world.remoteDocument("k") == ["_id": "k"])
        #expect(try await failing.status().pending == 1)
    }

    @Test("a namespace that is none is refused and poisons nothing")
    func badNamespace() async throws {
        let world = try SyncWorld()
        let engine = try SyncEngine(
            store: try DocumentStore(at: .inMemory), remote: world.remote)
        await #expect(throws: StoreError.self) {
            try await engine.collection(Namespace("my app", "x")).sync(ids: ["k"])
        }
        try await engine.syncNow()
    }

    @Test(
        "a handler that asks for a pass of its engine, or for its end, is told so at once",
        arguments: [false, true])
    func handlerThatSyncs(orReleases: Bool) async throws {
        let world = try SyncWorld()
        let box = Locked<SyncEngine?>(nil)
        let a = try await world.device(
            "A",
            handler: ConflictHandler { _ in
                let engine = box.withLock { $0 }
                if orReleases {
                    try await engine?.release()
                } else {
                    try await engine?.syncNow()
                }
                return .useRemote
            })
        box.withLock { $0 = a.engine }
        try await a.insert(["_id": "k", "x": 0])
        try await a.sync()
        try world.foreign("k") { $0["x"] = 5 }
        try await a.set("k", ["x": 2])
        try await a.sync()
        let reason = try await a.items.status(of: "k").pauseReason
        #expect(reason?.message.contains("cannot start a pass") == true)
        box.withLock { $0 = nil }
    }
}
