import BSONStore
import Testing

@testable import StitchSync

/// An engine that ignored the policy would spend the user's money; one that forgot the end of a
/// metered network would never sync again.
@Suite(.timeLimit(.minutes(5))) struct MeteredScenarios {
    @Test("while the network is metered, an engine that syncs only when asked sends no request")
    func onlyWhenAsked() async throws {
        let world = try SyncWorld()
        let a = try await world.device("A")
        let engine = a.engine
        let requests = Locked(0)
        world.remote.before { _ in requests.withLock { $0 += 1 } }
        engine.setNetworkPolicy(.onlyWhenAsked)
        #expect(!engine.isMetered && engine.syncsByItself)
        engine.noteMetered(true)
        #expect(engine.isMetered && !engine.syncsByItself && engine.isOnline)
        try await a.insert(["_id": 1])
        let before = engine.passes.count
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { try await engine.run() }
            defer { group.cancelAll() }
            // The loop has tried.
            await engine.passes.wait(after: before)
            #expect(requests.withLock { $0 } == 0)
            // The app asks.
            try await a.sync()
            #expect(try world.remoteDocument(1) == ["_id": 1])
            try await a.insert(["_id": 2])
            #expect(try await a.items.status().pending == 1)
            #expect(try world.remoteDocument(2) == nil)
            engine.noteMetered(false)
            var seen = engine.passes.count
            while try world.remoteDocument(2) == nil {
                await engine.passes.wait(after: seen)
                seen = engine.passes.count
            }
        }
        world.remote.before(nil)
        #expect(try world.remoteDocument(2) == ["_id": 2])
    }

    @Test("a wait for changes ends when the network becomes metered")
    func endsWaits() async throws {
        let world = try SyncWorld()
        let a = try await world.device("A")
        let engine = a.engine
        try await a.insert(["_id": 1])
        engine.setNetworkPolicy(.onlyWhenAsked)
        let (waits, note) = AsyncStream.makeStream(of: Bool.self)
        world.remote.before { call in if call.wait > .zero { note.yield(true) } }
        world.remote.after { call in if call.wait > .zero { note.yield(false) } }
        var begins = waits.makeAsyncIterator()
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { try await engine.run() }
            defer { group.cancelAll() }
            while await begins.next() == false {}
            let seen = engine.passes.count
            engine.noteMetered(true)
            // The change itself, then the pass that was not allowed.
            await engine.passes.wait(after: seen + 1)
            try world.foreign(1) { $0["n"] = 1 }
            #expect(try await a.local(1)?["n"] == nil)
            engine.noteMetered(nil)
            var last = engine.passes.count
            while try await a.local(1)?["n"] == nil {
                await engine.passes.wait(after: last)
                last = engine.passes.count
            }
        }
        world.remote.before(nil)
        world.remote.after(nil)
    }

    @Test("the app's word replaces the system's, and a policy alone holds nothing back")
    func sources() async throws {
        let engine = try await SyncWorld().device("A").engine
        engine.noteSystemNetwork(isMetered: true)
        #expect(engine.isMetered && engine.syncsByItself)
        engine.noteMetered(false)
        #expect(!engine.isMetered)
        engine.noteMetered(nil)
        #expect(engine.isMetered)
        for (policy, passes, small, large) in [
            (NetworkPolicy.everything, true, true, true),
            (.filesUpTo(bytes: 10), true, true, false), (.documentsOnly, true, false, false),
            (.onlyWhenAsked, false, false, false),
        ] {
            engine.setNetworkPolicy(policy)
            #expect(engine.syncsByItself == passes)
            #expect(engine.carriesByItself(Self.file(10)) == small)
            #expect(engine.carriesByItself(Self.file(11)) == large)
        }
        engine.noteSystemNetwork(isMetered: false)
        #expect(engine.syncsByItself && engine.carriesByItself(Self.file(11)))
    }

    private static func file(_ length: Int64) -> BSONStore.Attachment {
        BSONStore.Attachment(
            id: BSONObjectID(), sha256: SHA256.hash([]), length: length)
    }
}
