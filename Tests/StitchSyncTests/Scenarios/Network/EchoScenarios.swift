import BSONStore
import Testing

@testable import StitchSync

/// A waiting engine is not told of its own uploads, but of everything else.
@Suite(.remotes) struct EchoScenarios {
    @Test("an engine's own uploads do not come back to it")
    func ownUploads() async throws {
        let world = try SyncWorld()
        let (a, b) = try await world.devicesInStep()
        let (asked, ask) = AsyncStream.makeStream(of: Void.self)
        world.remote.before { call in
            if call.wait > .zero { ask.yield() }
        }
        let told = Locked<[RemoteChangeBatch]>([])
        world.remote.found { batch in told.withLock { $0.append(batch) } }
        var arrivals = a.items.events.makeAsyncIterator()
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { try await a.engine.run() }
            defer { group.cancelAll() }
            for await _ in asked { break }
            for n in 1...10 as ClosedRange<Int32> {
                try await a.set("k", ["n": .int32(n)])
                try await a.items.waitForUpload()
            }
            // The other device's change comes after them.
            try await b.engine.syncUntilQuiet()
            try await b.set("k", ["n": 99])
            try await b.engine.syncUntilQuiet()
            while let event = try await arrivals.next(), event.fullDocument?["n"] != 99 {}
        }
        let mine = try a.store.read {
            try SyncInstanceTable(connection: $0.connection).last()
        }
        let echoes = told.withLock { $0 }.filter { batch in
            batch.changes.contains { $0.operation?.instance == mine.instance }
        }
        // A wait that begins anew is told of what came before it.
        if SyncWorld.remoteKind.leavesOutEchoes { #expect(echoes.count <= 3, "\(echoes)") }
        #expect(try await a.items.status() == SyncStatus(synced: 1))
    }

    @Test("a request that lands after it was looked for in vain reaches the waiting engine")
    func landsLate() async throws {
        let world = try SyncWorld()
        let a = try await world.device("A", handler: nil)
        try await a.insert(["_id": "k", "x": 0])
        try await a.engine.syncUntilQuiet()
        let (asked, ask) = AsyncStream.makeStream(of: Void.self)
        let (written, write) = AsyncStream.makeStream(of: Void.self)
        let late = Locked<[RemoteWrite]>([])
        world.remote.before { call in
            if call.wait > .zero { ask.yield() }
            guard call.kind == .write else { return }
            let isFirst = late.withLock { late in
                defer { if late.isEmpty { late = call.writes } }
                return late.isEmpty
            }
            guard isFirst else {
                write.yield()
                return
            }
            // The app takes the change back before the engine looks for the request.
            try await a.items.updateOne(["_id": "k"], ["$set": ["x": 0]])
            throw RemoteError(.retryable, "timed out")
        }
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { try await a.engine.run() }
            defer { group.cancelAll() }
            for await _ in asked { break }
            try await a.items.updateOne(["_id": "k"], ["$set": ["x": 1]])
            try await a.items.waitForUpload()
            #expect(try await a.items.status() == SyncStatus(synced: 1))
            try await world.land(late)
            #expect(try world.remoteDocument("k") == ["_id": "k", "x": 1])
            // What the app took back is taken back at the remote, too.
            for await _ in written { break }
            try await a.items.waitForUpload()
        }
        #expect(try await a.local("k") == ["_id": "k", "x": 0])
        #expect(try world.remoteDocument("k") == ["_id": "k", "x": 0])
    }
}

extension RemoteKind {
    /// Whether the remote does not tell a device of its own changes.
    fileprivate var leavesOutEchoes: Bool {
        switch self {
        case .inProcess: false
        case .served: true
        #if MongoRemote
            case .gateway: true
            case .deployment: false
        #endif
        }
    }
}
