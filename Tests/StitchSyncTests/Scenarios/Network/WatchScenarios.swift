import BSONStore
import Testing

@testable import StitchSync

/// What a running engine's wait for changes has found must reach a pass, however the wait ends.
@Suite(.timeLimit(.minutes(5))) struct WatchScenarios {
    @Test("changes that a wait finds while it is ended are read")
    func foundWhileEnded() async throws {
        let world = try SyncWorld()
        // The answer to a wait counts though the wait is cancelled meanwhile.
        var limits = SyncLimits()
        limits.requestTimeout = nil
        let device = try await world.device("a", limits: limits)
        try await device.insert(["_id": "k", "n": 0])
        try await device.engine.syncUntilQuiet()
        var arrivals = device.items.events.makeAsyncIterator()
        let (asked, ask) = AsyncStream.makeStream(of: Void.self)
        let (held, hold) = AsyncStream.makeStream(of: Void.self)
        let (ended, end) = AsyncStream.makeStream(of: Void.self)
        world.remote.before { call in
            if call.wait > .zero, call.namespace == SyncWorld.namespace { ask.yield() }
        }
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { try await device.engine.run() }
            defer { group.cancelAll() }
            for await _ in asked { break }
            let isHeld = Locked(false)
            world.remote.after { call in
                guard call.wait > .zero, call.namespace == SyncWorld.namespace else { return }
                let isFirst = isHeld.withLock { isHeld in
                    defer { isHeld = true }
                    return !isHeld
                }
                guard isFirst else { return }
                hold.yield()
                await untilCancelled()
                end.yield()
            }
            try world.foreign("k") { $0["n"] = 1 }
            for await _ in held { break }
            // Other collections are to be watched, which ends the wait: no pass has taken what it found.
            await device.items.updateSyncFrequency(.onDemand)
            for await _ in ended { break }
            await device.items.updateSyncFrequency(.reactive)
            while let event = try await arrivals.next(), event.fullDocument?["n"] != 1 {}
        }
        #expect(try await device.local("k")?["n"] == 1)
    }

    @Test("a wait goes on while another collection has news, and ends when its own position moves")
    func ownWaits() async throws {
        let world = try SyncWorld()
        var limits = SyncLimits()
        limits.requestTimeout = nil
        let device = try await world.device("a", limits: limits)
        let others = Namespace(SyncWorld.database, "others")
        try await device.insert(["_id": "k", "n": 0])
        try await device.engine.collection(others).insertOne(["_id": "o", "n": 0])
        try await device.engine.syncUntilQuiet()
        let (asked, ask) = AsyncStream.makeStream(of: Namespace.self)
        let waits = Locked<[Namespace: Int]>([:])
        world.remote.before { call in
            guard call.wait > .zero else { return }
            waits.withLock { $0[call.namespace, default: 0] += 1 }
            ask.yield(call.namespace)
            // Not even its time limit ends it.
            if call.namespace == others { await untilCancelled() }
        }
        var arrivals = device.items.events.makeAsyncIterator()
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { try await device.engine.run() }
            defer { group.cancelAll() }
            var open: Set<Namespace> = []
            for await namespace in asked {
                open.insert(namespace)
                if open.count == 2 { break }
            }
            let before = waits.withLock { $0 }
            for n in 1...5 as ClosedRange<Int32> {
                try world.foreign("k") { $0["n"] = .int32(n) }
                while let event = try await arrivals.next(),
                    event.fullDocument?["n"] != .int32(n)
                {}
            }
            let after = waits.withLock { $0 }
            #expect((after[SyncWorld.namespace] ?? 0) > (before[SyncWorld.namespace] ?? 0))
            #expect(after[others] == before[others])
        }
    }
}

/// Waits until the task is cancelled.
private func untilCancelled() async {
    let (never, end) = AsyncStream.makeStream(of: Void.self)
    for await _ in never {}
    end.finish()
}
