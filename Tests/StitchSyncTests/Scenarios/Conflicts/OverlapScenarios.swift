import BSONStore
import Testing

@testable import StitchSync

/// What happens while a pass, a handler or another engine is under way is neither lost nor undone.
@Suite(.remotes)
struct OverlapScenarios {
    @Test("a document that left and came back while its handler thought keeps its new content")
    func comesBackAnew() async throws {
        let world = try SyncWorld()
        let box = Locked<SyncCollection<BSONDocument>?>(nil)
        let a = try await world.device(
            "A",
            handler: ConflictHandler { _ in
                let taken = box.withLock { items in
                    defer { items = nil }
                    return items
                }
                guard let items = taken else { return .useLocal }
                try await items.desync(ids: ["k"])
                try await items.insertOne(["_id": "k", "x": 100])
                // As many revisions as the old one had, and more.
                for x in 101...103 as ClosedRange<Int32> {
                    try await items.updateOne(["_id": "k"], ["$set": ["x": .int32(x)]])
                }
                return .useRemote
            })
        box.withLock { $0 = a.items }
        try world.foreign("k") { document in
            document["x"] = 9
            document[DocumentVersion.fieldName] = ["spv": 1, "id": "L", "v": .int64(3)]
        }
        try await a.insert(["_id": "k", "x": 1])
        try await a.sync()
        #expect(try await a.local("k") == ["_id": "k", "x": 103])
    }

    @Test("a foreign change in the middle of an upload ends quiet with nothing pending")
    func foreignInTheMiddle() async throws {
        let world = try SyncWorld()
        let a = try await world.device("A", handler: .localWins)
        try await a.insert(["_id": "k", "x": 0])
        try await a.engine.syncUntilQuiet()
        try await a.set("k", ["x": 1])
        world.remote.before { call in
            guard call.kind == .write else { return }
            world.remote.before(nil)
            try world.foreign("k") { document in
                var version = document[DocumentVersion.fieldName]?.documentValue ?? [:]
                version["v"] = .int64(8)
                document[DocumentVersion.fieldName] = .document(version)
            }
        }
        try await a.engine.syncUntilQuiet()
        #expect(try await a.items.status() == SyncStatus(synced: 1))
        #expect(try world.remoteDocument("k") == ["_id": "k", "x": 1])
    }

    @Test("version fields that an app brings along never count, however many")
    func manyVersionFields() async throws {
        let world = try SyncWorld()
        let a = try await world.device("A")
        var document: BSONDocument = ["_id": "k", "x": 0]
        for number in 1...3 as ClosedRange<Int32> {
            document.append(DocumentVersion.fieldName, .int32(number))
        }
        try await a.insert(document)
        try await a.engine.syncUntilQuiet()
        #expect(try await a.local("k") == ["_id": "k", "x": 0])
        try await a.set("k", ["x": 1])
        try await a.engine.syncUntilQuiet()
        #expect(try await a.items.status() == SyncStatus(synced: 1))
        #expect(try world.remoteDocument("k") == ["_id": "k", "x": 1])
    }

    @Test("a second engine of one store may settle what the first sent; nobody is asked")
    func twoEnginesOneAttempt() async throws {
        let world = try SyncWorld()
        let store = try DocumentStore(at: .inMemory)
        let a = Device(name: "A", world: world, store: store, handler: .remoteWins)
        let b = Device(name: "B", world: world, store: store, handler: .remoteWins)
        try await a.start()
        try await b.start()
        try await a.insert(["_id": "k", "x": 0])
        try await a.engine.syncUntilQuiet()
        try await a.set("k", ["x": 1])
        _ = world.transcript()
        world.remote.before { call in
            guard call.kind == .write else { return }
            world.remote.before { inner in
                guard inner.kind == .write else { return }
                world.remote.before(nil)
                try await a.items.updateOne(["_id": "k"], ["$set": ["x": 2]])
                let collection = world.remote.base.collection(SyncWorld.namespace)
                _ = try await collection.write(call.writes)
            }
            try await b.sync()
        }
        for device in [a, a, b] { try await device.sync() }
        #expect(!world.transcript().contains { $0.contains("conflict") })
        #expect(try await a.local("k") == ["_id": "k", "x": 2])
        #expect(try world.remoteDocument("k") == ["_id": "k", "x": 2])
    }

    @Test(
        "an old look of one engine, and what the history told it, do not undo what another took since",
        arguments: [RemoteCall.Kind.find, .changes])
    func oldLook(_ kind: RemoteCall.Kind) async throws {
        let world = try SyncWorld()
        let store = try DocumentStore(at: .inMemory)
        let a = Device(name: "A", world: world, store: store, handler: .remoteWins)
        let b = Device(name: "B", world: world, store: store, handler: .remoteWins)
        let c = try await world.device("C")
        try await a.start()
        try await b.start()
        try await c.insert(["_id": "k", "x": 0])
        try await c.sync()
        try await a.items.sync(ids: ["k"])
        try await a.engine.syncUntilQuiet()
        world.remote.state.withLock { $0.tells = true }
        if kind == .changes {
            try await c.set("k", ["x": 1])
            try await c.sync()
        } else {
            // Another tool keeps the version, so the document has to be fetched.
            try world.foreign("k") { $0["x"] = 1 }
        }
        world.remote.after { call in
            guard call.kind == kind else { return }
            world.remote.after(nil)
            try await c.sync()
            try await c.set("k", ["x": 2])
            try await c.sync()
            try await b.sync()
        }
        for device in [a, a, b, a] { try await device.sync() }
        #expect(try await a.local("k") == ["_id": "k", "x": 2])
    }

    @Test("what the history tells is taken without a look, unless a change waits here")
    func told() async throws {
        let world = try SyncWorld()
        let (a, b) = (
            try await world.device("A"), try await world.device("B", handler: .remoteWins)
        )
        try await a.insert(["_id": "k", "x": 0])
        try await a.settle()
        try await b.items.sync(ids: ["k"])
        try await b.settle()
        let finds = Locked(0)
        let untold = SyncWorld.remoteKind.tellsUpdated ? 0 : 1
        world.remote.state.withLock { $0.tells = true }
        world.remote.before { call in
            if call.kind == .find { finds.withLock { $0 += 1 } }
        }
        for x in 1...2 as ClosedRange<Int32> {
            try await a.set("k", ["x": .int32(x)])
            try await a.sync()
        }
        try await b.sync()
        #expect(try await b.local("k") == ["_id": "k", "x": 2])
        #expect(finds.withLock { $0 } == untold)
        try await a.set("k", ["x": 3])
        try await a.sync()
        try await b.set("k", ["x": 4])
        try await b.settle()
        #expect(try await b.local("k") == ["_id": "k", "x": 3])
        #expect(finds.withLock { $0 } == untold + 1)
        // Another tool keeps the version.
        try world.foreign("k") { $0["x"] = 5 }
        try await b.settle()
        #expect(try await b.local("k") == ["_id": "k", "x": 5])
        #expect(finds.withLock { $0 } == untold + 2)
        #expect(try await b.items.status() == SyncStatus(synced: 1))
    }

    @Test("an insert that was lost on the way and deleted since leaves no record")
    func ghost() async throws {
        let world = try SyncWorld()
        let a = try await world.device("A")
        try await a.insert(["_id": "k"])
        world.remote.before { call in
            guard call.kind == .write else { return }
            world.remote.before(nil)
            throw RemoteError(.retryable, "cut")
        }
        try await a.sync()
        try await a.delete("k")
        try await a.engine.syncUntilQuiet()
        #expect(try await a.items.syncedIDs.isEmpty)
        #expect(try world.remoteDocument("k") == nil)
    }

    @Test("a conflict that is decided anew still says that the change may have landed")
    func mayHaveLanded() async throws {
        let world = try SyncWorld()
        let flags = Locked<[Bool]>([])
        let box = Locked<SyncCollection<BSONDocument>?>(nil)
        let a = try await world.device(
            "A",
            handler: ConflictHandler { conflict in
                flags.withLock { $0.append(conflict.mayHaveLanded) }
                let taken = box.withLock { items in
                    defer { items = nil }
                    return items
                }
                try await taken?.updateOne(["_id": "k"], ["$set": ["y": 1]])
                return .useLocal
            })
        box.withLock { $0 = a.items }
        try await a.insert(["_id": "k", "x": 0])
        try await a.engine.syncUntilQuiet()
        try await a.set("k", ["x": 1])
        world.remote.after { call in
            guard call.kind == .write else { return }
            world.remote.after(nil)
            throw RemoteError(.retryable, "lost")
        }
        try await a.sync()
        try world.foreign("k") { document in
            document["x"] = 7
            document[DocumentVersion.fieldName] = ["spv": 1, "id": "L", "v": .int64(3)]
        }
        world.remote.before { call in
            if call.kind == .changes { throw RemoteError(.historyLost, code: 286, "gone") }
        }
        try await a.sync()
        try await a.sync()
        #expect(flags.withLock { $0 } == [true, true])
    }

    @Test("what another engine of the file writes is sent by the one that runs")
    func otherProcessWrites() async throws {
        let world = try SyncWorld()
        let directory = try ScratchDirectory()
        let path = directory.path("a.db")
        let first = try SyncEngine(
            store: try DocumentStore(at: .file(path)), remote: world.remote)
        let second = try SyncEngine(
            store: try DocumentStore(at: .file(path)), remote: world.remote)
        let (sent, send) = AsyncStream.makeStream(of: BSONValue.self)
        world.remote.after { call in
            if call.kind == .write { for id in call.documentIDs { send.yield(id) } }
        }
        try await first.collection(SyncWorld.namespace).insertOne(["_id": "first"])
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { try await first.run() }
            var ids = sent.makeAsyncIterator()
            #expect(await ids.next() == "first")
            try await second.collection(SyncWorld.namespace).insertOne(["_id": "second"])
            #expect(await ids.next() == "second")
            group.cancelAll()
        }
    }
}
