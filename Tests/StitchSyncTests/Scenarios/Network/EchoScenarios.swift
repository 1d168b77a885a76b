import BSONStore
import Testing

@testable import StitchSync

/// A waiting engine is not told of its own uploads, but of everything else.
@Suite(.remotes) struct EchoScenarios {
    @Test("a running engine's own uploads do not come back to it")
    func whileRunning() async throws {
        let world = try SyncWorld()
        let (a, b) = try await world.devicesInStep()
        let (asked, ask) = AsyncStream.makeStream(of: Void.self)
        world.remote.before { call in
            if call.wait > .zero { ask.yield() }
        }
        let told = try world.told(of: a)
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
        // A wait that ended at its time limit, while an upload was under way, may have come before it.
        if SyncWorld.remoteKind.leavesOutEchoes, !told.withLock({ $0.endedAtLimit }) {
            #expect(told.withLock { $0.echoes }.isEmpty)
        }
        #expect(try await a.items.status() == SyncStatus(synced: 1))
    }

    @Test("a pass is not told of what an earlier one sent")
    func betweenPasses() async throws {
        let world = try SyncWorld()
        let (a, b) = try await world.devicesInStep()
        let told = try world.told(of: a)
        for n in 1...3 as ClosedRange<Int32> {
            try await a.set("k", ["n": .int32(n)])
            try await a.engine.syncUntilQuiet()
        }
        if SyncWorld.remoteKind.leavesOutEchoes { #expect(told.withLock { $0.echoes }.isEmpty) }
        // What others do is told, also where they restore what the device wrote.
        let mine = try #require(try world.remoteDocuments.document("k"))
        try await b.engine.syncUntilQuiet()
        try await b.set("k", ["n": 99])
        try await b.engine.syncUntilQuiet()
        try await a.engine.syncUntilQuiet()
        #expect(try await a.local("k") == ["_id": "k", "n": 99])
        try world.remoteDocuments.put(mine)
        try await a.engine.syncUntilQuiet()
        #expect(try await a.local("k") == ["_id": "k", "n": 3])
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

    @Test("a request that lands after it was looked for in vain reaches the next pass")
    func landsLateBetweenPasses() async throws {
        let world = try SyncWorld()
        let a = try await world.device("A", handler: nil)
        try await a.insert(["_id": "k", "x": 0])
        try await a.engine.syncUntilQuiet()
        let late = Locked<[RemoteWrite]>([])
        world.remote.before { call in
            guard call.kind == .write else { return }
            late.withLock { $0 = call.writes }
            throw RemoteError(.retryable, "timed out")
        }
        try await a.set("k", ["x": 1])
        _ = try await a.engine.syncNow()
        world.remote.before(nil)
        try await a.items.discardPendingChange(of: "k")
        try await a.engine.syncUntilQuiet()
        try await world.land(late)
        try await a.engine.syncUntilQuiet()
        // What the app gave up is taken back at the remote, too.
        #expect(try await a.local("k") == ["_id": "k", "x": 0])
        #expect(try world.remoteDocument("k") == ["_id": "k", "x": 0])
    }
}

/// What a device was told of a history.
private struct Told {
    /// The changes that it made itself.
    var echoes: [RemoteChange] = []
    /// Whether a reading found nothing although the history had moved on.
    var endedAtLimit = false
}

extension SyncWorld {
    /// Notes what is told from now on.
    fileprivate func told(of device: Device) throws -> Locked<Told> {
        let own = try device.store.read { try SyncInstanceTable(connection: $0.connection).last() }
        let told = Locked(Told())
        remote.found { batch in
            told.withLock { told in
                told.echoes += batch.changes.filter { $0.operation?.instance == own.instance }
                if batch.changes.isEmpty { told.endedAtLimit = true }
            }
        }
        return told
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
