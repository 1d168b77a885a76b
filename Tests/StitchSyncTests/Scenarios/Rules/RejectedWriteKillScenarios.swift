import BSONStore
import Testing

@testable import StitchSync

/// A kill at any commit around a refused write must lose neither the write nor the report of it.
struct RejectedWriteKillScenarios {
    private struct Killed: Error {}

    /// Kills the engine at its n-th commit: before it, or after it.
    private final class Killer: Sendable {
        private let state: Locked<(count: Int, at: Int)>
        private let isBefore: Bool

        init(at number: Int, isBefore: Bool) {
            state = Locked((0, number))
            self.isBefore = isBefore
        }

        var probe: EngineProbe {
            EngineProbe(
                beforeCommit: { [self] in
                    let isTime = state.withLock { state in
                        state.count += 1
                        return state.count >= state.at
                    }
                    if isTime && isBefore { throw Killed() }
                },
                afterCommit: { [self] in
                    if state.withLock({ $0.count >= $0.at }) { throw Killed() }
                })
        }

        var isDone: Bool { state.withLock { $0.count >= $0.at } }
    }

    @Test("a process that dies at any commit reports each refused write once it is back")
    func killed() async throws {
        for isBefore in [true, false] {
            var number = 1
            while try await kill(at: number, isBefore: isBefore, .standard) { number += 1 }
            #expect(number > 5)
        }
    }

    @Test("so does one that asks")
    func killedAsking() async throws {
        for isBefore in [true, false] {
            var number = 1
            while try await kill(at: number, isBefore: isBefore, .ask { _ in .revert }) {
                number += 1
            }
            #expect(number > 6)
        }
    }

    /// Dies at a commit, starts again and goes on; whether there was such a commit.
    private func kill(
        at number: Int, isBefore: Bool, _ policy: RejectionPolicy<BSONDocument>
    ) async throws -> Bool {
        let world = try RuledWorld()
        let store = try DocumentStore(at: .inMemory)
        try world.foreign("old", ["ownerId": "ann", "n": 1])
        let first = try await world.engine(store, policy: policy)
        try await first.items.sync(ids: ["old"])
        try await first.passed()
        _ = world.transcript()
        let killer = Killer(at: number, isBefore: isBefore)
        let dying = try await world.engine(store, policy: policy, probe: killer.probe)
        do {
            try await dying.items.insertOne(["_id": "bad", "ownerId": "zoe"])
            try await dying.items.insertOne(["_id": "good", "ownerId": "ann"])
            try await dying.items.updateOne(["_id": "old"], ["$set": ["ownerId": "zoe"]])
            try await dying.syncNow()
        } catch is Killed {}
        await dying.flushEvents()
        let engine = try await world.engine(store, policy: policy)
        let isWritten = try engine.items.findOne(id: "old")?["ownerId"] == "zoe"
        let wasRejected = try await !engine.items.rejectedWrites.all().isEmpty
        if !isWritten && !wasRejected {
            // It died before the last write was acknowledged, so that the app makes it again.
            for (id, owner) in [("bad", "zoe"), ("good", "ann")]
            where try engine.items.findOne(id: .string(id)) == nil {
                try await engine.items.insertOne(["_id": .string(id), "ownerId": .string(owner)])
            }
            try await engine.items.updateOne(["_id": "old"], ["$set": ["ownerId": "zoe"]])
        }
        try await engine.syncUntilQuiet()
        await engine.flushEvents()
        #expect(try await engine.verify().isEmpty)
        let rejected = try await engine.items.rejectedWrites.all()
        #expect(
            Set(rejected.map { RuledWorld.text($0.documentID) }) == ["bad", "old"]
                && rejected.count == 2, "\(number) \(isBefore)")
        #expect(try engine.items.find().fetch().count == 2)
        #expect(
            try engine.items.findOne(id: "old") == ["_id": "old", "ownerId": "ann", "n": 1])
        #expect(try await engine.items.status() == SyncStatus(synced: 2, rejected: 2))
        #expect(try world.document("good") != nil)
        #expect(try world.document("bad") == nil)
        let told = world.transcript().filter { $0.hasPrefix("error compensatingWrite") }
            .flatMap { $0.split(separator: " ").last?.split(separator: ",") ?? [] }
        #expect(Set(told) == ["bad", "old"], "\(number) \(isBefore): \(told)")
        return killer.isDone
    }
}
