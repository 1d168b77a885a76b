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
        let others = device.engine.collection(Namespace(SyncWorld.database, "others"))
        try await device.insert(["_id": "k", "n": 0])
        try await others.insertOne(["_id": "o", "n": 0])
        try await device.engine.syncUntilQuiet()
        var arrivals = device.items.events.makeAsyncIterator()
        let (asked, ask) = AsyncStream.makeStream(of: Void.self)
        let (held, hold) = AsyncStream.makeStream(of: Void.self)
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
            }
            try world.foreign("k") { $0["n"] = 1 }
            for await _ in held { break }
            // Other places are to be watched, as after a pass that moved them: all waits end. No
            // pass is due, which would take what was found.
            device.engine.state.withLock { state in
                state.configurations[others.namespace, default: .init()].frequency = .onDemand
            }
            device.engine.passes.notify()
            while let event = try await arrivals.next(), event.fullDocument?["n"] != 1 {}
        }
        #expect(try await device.local("k")?["n"] == 1)
    }
}

/// Waits until the task is cancelled.
private func untilCancelled() async {
    let (never, end) = AsyncStream.makeStream(of: Void.self)
    for await _ in never {}
    end.finish()
}
