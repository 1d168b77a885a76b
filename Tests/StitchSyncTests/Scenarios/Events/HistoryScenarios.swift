import BSONStore
import Testing

@testable import StitchSync

/// Without these a story would leave out a step, tell one that was rolled back, or grow for ever.
struct HistoryScenarios {
    /// The story of a document without times, with the device's own instance as `me`.
    private func story(_ id: BSONValue, on device: Device) async throws -> [String] {
        try await device.items.history(of: id).map { entry in
            let instance = entry.operation.map { String($0.instance, radix: 16) }
            return entry.text.split(separator: " ", omittingEmptySubsequences: false)
                .map { word in
                    guard let instance, word.hasPrefix(instance) else { return String(word) }
                    return "me" + word.dropFirst(instance.count)
                }
                .joined(separator: " ")
        }
    }

    @Test("a write is told from its call to the remote's confirmation")
    func write() async throws {
        let world = try SyncWorld()
        let a = try await world.device("a")
        try await a.insert(["_id": "k", "n": 0])
        try await a.sync()
        try await a.set("k", ["n": 1])
        try await a.delete("k")
        try await a.sync()
        #expect(
            try await story("k", on: a) == [
                "written here: insert", "sent as operation me.1, attempt 1: insert",
                "applied by the remote as version 0, operation me.1", "written here: update",
                "written here: delete", "sent as operation me.2, attempt 1: delete",
                "applied by the remote as operation me.2",
            ])
        try await a.sync()
        #expect(try await a.items.history(of: "k").count == 7)
        #expect(try await a.items.history(of: "other").isEmpty)
    }

    @Test("a page ends before a number, and pages make up the story")
    func pages() async throws {
        let world = try SyncWorld()
        let a = try await world.device("a")
        try await a.insert(["_id": "k", "n": 0])
        for number in 1..<40 { try await a.set("k", ["n": .int32(Int32(number))]) }
        let all = try await a.items.history(of: "k")
        #expect(all.count == 40)
        let newest = try await a.items.history(of: "k", limit: 7)
        #expect(newest == all.suffix(7))
        let earlier = try await a.items.history(of: "k", limit: 7, before: newest[0].number)
        #expect(earlier == all.dropLast(7).suffix(7))
    }

    @Test("a conflict is told with the fields that differ, large values by type and size")
    func conflict() async throws {
        let world = try SyncWorld()
        let (a, b) = try await world.devicesInStep()
        try await a.set("k", ["n": 1])
        try await a.sync()
        try await b.set("k", ["n": 2, "large": SyncWorld.bytes(1_000)])
        try await b.engine.syncUntilQuiet()
        let entries = try await b.items.history(of: "k")
        let fields = entries.compactMap { entry -> [HistoryField]? in
            guard case .resolved(.remote, let fields) = entry.event else { return nil }
            return fields
        }
        #expect(fields.count == 1)
        let n = fields.first?.first { $0.name == "n" }
        #expect(n?.base == 0 && n?.local == 2 && n?.remote == 1 && n?.result == 1)
        let large = fields.first?.first { $0.name == "large" }
        #expect(large?.base == nil && large?.result == nil)
        #expect(large?.local?.stringValue?.hasSuffix("bytes") == true)
        // The document leaves the device, and no value of it may stay.
        try await b.items.desync(ids: ["k"])
        let left = try await b.items.history(of: "k")
        #expect(left.last?.event == .desynced)
        #expect(
            !left.contains { entry in
                guard case .resolved(_, let fields) = entry.event else { return false }
                return !fields.isEmpty
            })
        let kept = try b.store.read {
            try $0.connection.int64("SELECT count(*) FROM sync_history_fields")
        }
        #expect(kept == 0)
    }

    @Test("a lost answer is told, and the evidence that settles it")
    func lostAnswer() async throws {
        let world = try SyncWorld()
        let a = try await world.device("a")
        try await a.insert(["_id": "k", "n": 0])
        world.remote.after { [remote = world.remote] call in
            guard call.kind == .write else { return }
            remote.after(nil)
            throw RemoteError(.retryable, "the answer was lost")
        }
        _ = try await a.engine.syncNow()
        try await a.engine.syncUntilQuiet()
        #expect(
            try await story("k", on: a).last
                == "found at the remote after a lost answer as version 0, operation me.1")
    }

    @Test("a refused write pauses and resumes, each with its reason")
    func refused() async throws {
        let world = try SyncWorld()
        let a = try await world.device("a")
        try await a.insert(["_id": "bad", "n": 0])
        world.remote.outcomes { _, outcomes in
            outcomes.map { _ in .failed(RemoteError(.rejected, code: 121, "not valid")) }
        }
        try await a.sync()
        world.remote.outcomes(nil)
        #expect(try await a.items.resumeSync(of: "bad"))
        try await a.engine.syncUntilQuiet()
        let events = try await a.items.history(of: "bad").map(\.event)
        let paused = events.contains { event in
            guard case .paused(let reason) = event else { return false }
            return reason.code == .rejected
        }
        let refused = events.contains { event in
            guard case .refused(let refusal) = event else { return false }
            return refusal.message.contains("not valid")
        }
        #expect(paused && refused && events.contains(.resumed))
    }

    @Test("a write that the rules deny is told with the role and the revert")
    func reverted() async throws {
        let world = try RuledWorld()
        let engine = try await world.engine(policy: .revert)
        try await engine.items.insertOne(["_id": "bad", "ownerId": "zoe"])
        try await engine.syncUntilQuiet()
        let events = try await engine.items.history(of: "bad").map(\.event)
        let roles = events.compactMap { event -> String? in
            guard case .refused(let refusal) = event else { return nil }
            return refusal.role
        }
        #expect(roles.first?.hasPrefix("owner") == true)
        #expect(events.contains(.reverted))
    }

    @Test("the oldest entries are removed in steps, by number and by bytes")
    func bounded() async throws {
        let world = try SyncWorld()
        for (entries, bytes) in [(80, 1 << 20), (50_000, 2_000)] {
            var limits = SyncLimits()
            limits.historyKept = entries
            limits.historyBytesKept = bytes
            let a = try await world.device("a", limits: limits)
            try await a.insert(["_id": "k", "n": 0])
            for number in 1..<300 { try await a.set("k", ["n": .int32(Int32(number))]) }
            let kept = try await a.items.history(of: "k", limit: 1_000)
            #expect(kept.last?.number == 300)
            #expect(kept.count >= 60 && kept.count < 200)
            let size = try a.store.read {
                try $0.connection.int64("SELECT total(length(entries)) FROM sync_history")
            }
            #expect((size ?? 0) <= Int64(bytes))
        }
    }

    @Test("a journal that is turned off keeps nothing")
    func off() async throws {
        let world = try SyncWorld()
        var limits = SyncLimits()
        limits.historyKept = 0
        let a = try await world.device("a", limits: limits)
        try await a.insert(["_id": "k", "n": 0])
        try await a.sync()
        #expect(try await a.items.history(of: "k").isEmpty)
    }

    @Test("a store of an earlier version has no story until an engine opens it for writing")
    func upgrade() async throws {
        let folder = try ScratchDirectory()
        defer { withExtendedLifetime(folder) {} }
        let world = try SyncWorld()
        let path = folder.path("old.db")
        let items = SyncWorld.namespace
        do {
            let store = try DocumentStore(at: .file(path))
            let engine = try SyncEngine(store: store, remote: world.remote)
            try await engine.collection(items).insertOne(["_id": "k"])
            try await store.write { transaction in
                transaction.isEngineWrite = true
                try transaction.connection.execute("DROP TABLE sync_history")
                try transaction.connection.execute("DROP TABLE sync_history_fields")
            }
            store.close()
        }
        let reading = try DocumentStore(at: .file(path), options: .inspecting)
        let looking = try SyncEngine(store: reading, remote: world.remote)
        #expect(try await looking.collection(items).history(of: "k").isEmpty)
        reading.close()
        let store = try DocumentStore(at: .file(path))
        let engine = try SyncEngine(store: store, remote: world.remote)
        try await engine.collection(items).updateOne(["_id": "k"], ["$set": ["n": 1]])
        #expect(try await engine.collection(items).history(of: "k").count == 1)
        store.close()
    }
}
