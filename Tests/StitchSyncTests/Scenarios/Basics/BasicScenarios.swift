import BSONStore
import Testing

@testable import StitchSync

/// Without these a document could stay behind, go up twice or come back from the dead.
@Suite(.remotes)
struct BasicScenarios {
    @Test("a document inserted here reaches the remote and the other device")
    func insertTravels() async throws {
        let world = try SyncWorld()
        let a = try await world.device("A")
        let b = try await world.device("B")
        try await a.insert(["_id": "k", "n": 1])
        try await a.sync()
        try await b.items.sync(ids: ["k"])
        try await b.sync()
        #expect(try await b.local("k") == ["_id": "k", "n": 1])
        #expect(
            world.transcript() == [
                "A local insert k pending",
                "A committed insert k settled",
                "B remote replace k settled",
            ])
        #expect(try world.remoteVersion("k")?.version?.counter == 0)
        #expect(try await a.items.status() == SyncStatus(synced: 1))
    }

    @Test("two offline updates of different fields both reach the remote in one pass")
    func updatesCoalesce() async throws {
        let world = try SyncWorld()
        let a = try await world.device("A", handler: nil)
        try await a.insert(["_id": "k"])
        try await a.sync()
        try await a.set("k", ["a": 1])
        try await a.set("k", ["b": 2])
        try await a.sync()
        #expect(try world.remoteDocument("k") == ["_id": "k", "a": 1, "b": 2])
        #expect(try world.remoteVersion("k")?.version?.counter == 1)
    }

    @Test("two remote updates between two passes both arrive")
    func remoteUpdatesArrive() async throws {
        let world = try SyncWorld()
        let a = try await world.device("A")
        let b = try await world.device("B")
        try await a.insert(["_id": "k"])
        try await a.sync()
        try await b.items.sync(ids: ["k"])
        try await b.sync()
        try await a.set("k", ["a": 1])
        try await a.sync()
        try await a.set("k", ["b": 2])
        try await a.sync()
        try await b.sync()
        #expect(try await b.local("k") == ["_id": "k", "a": 1, "b": 2])
    }

    @Test("a conflict is answered in one pass and uploaded by the next")
    func conflictTakesTwoPasses() async throws {
        let world = try SyncWorld()
        let a = try await world.device("A", handler: .mergeFields())
        let b = try await world.device("B")
        try await a.insert(["_id": "k", "x": 0])
        try await a.sync()
        try await b.items.sync(ids: ["k"])
        try await b.sync()
        try await b.set("k", ["b": 1])
        try await b.sync()
        try await a.set("k", ["a": 1])
        _ = world.transcript()
        try await a.sync()
        #expect(try await a.local("k") == ["_id": "k", "x": 0, "b": 1, "a": 1])
        #expect(try world.remoteDocument("k") == ["_id": "k", "x": 0, "b": 1])
        try await a.sync()
        #expect(try world.remoteDocument("k") == ["_id": "k", "x": 0, "b": 1, "a": 1])
        #expect(
            world.transcript() == [
                "A conflict base x=0 local x=0,a=1 remote x=0,b=1",
                "A resolution update k pending",
                "A committed update k settled",
            ])
    }

    @Test("a lost answer to each kind of write is no conflict and has one effect")
    func lostAnswers() async throws {
        let world = try SyncWorld()
        let a = try await world.device("A", handler: nil)
        func loseAnswer() {
            world.remote.after { call throws(RemoteError) in
                if call.kind == .write { throw RemoteError(.retryable, "lost") }
            }
        }
        for step in ["insert", "update", "delete"] {
            switch step {
            case "insert": try await a.insert(["_id": "k", "n": 1])
            case "update": try await a.set("k", ["n": 2])
            default: try await a.delete("k")
            }
            loseAnswer()
            let report = try await a.sync()
            #expect(report.errors == [.remoteUnavailable])
            world.remote.after(nil)
            try await a.sync()
            try await a.sync()
        }
        #expect(
            world.transcript() == [
                "A local insert k pending", "A error remoteUnavailable ",
                "A committed insert k settled",
                "A local update k pending", "A error remoteUnavailable ",
                "A committed update k settled",
                "A local delete k pending", "A error remoteUnavailable ",
                "A committed delete k settled",
            ])
        #expect(try world.remoteDocument("k") == nil)
        #expect(try await a.items.syncedIDs.isEmpty)
    }

    @Test("a lost answer with somebody else's change on top is found in the history")
    func lostAnswerBelowAnother() async throws {
        let world = try SyncWorld()
        let a = try await world.device("A", handler: nil)
        let b = try await world.device("B")
        try await a.insert(["_id": "k", "x": 0])
        try await a.sync()
        try await b.items.sync(ids: ["k"])
        try await b.sync()
        try await a.set("k", ["x": 1])
        world.remote.after { call in
            if call.kind == .write { throw RemoteError(.retryable, "lost") }
        }
        try await a.sync()
        world.remote.after(nil)
        try await b.sync()
        try await b.set("k", ["y": 2])
        try await b.sync()
        _ = world.transcript()
        try await a.sync()
        #expect(
            world.transcript() == ["A committed update k settled", "A remote replace k settled"])
        #expect(try await a.local("k") == ["_id": "k", "x": 1, "y": 2])
    }

    @Test("a rejected write pauses its document only and keeps the change")
    func rejectionPauses() async throws {
        let world = try SyncWorld()
        let a = try await world.device("A")
        try await a.insert(["_id": "bad"])
        try await a.insert(["_id": "good"])
        world.remote.outcomes { call, outcomes in
            zip(call.documentIDs, outcomes).map { id, outcome in
                id == "bad" ? .failed(RemoteError(.rejected, code: 121, "not valid")) : outcome
            }
        }
        let report = try await a.sync()
        #expect(report.uploaded == 1 && report.paused == 1)
        #expect(try await a.items.pausedIDs == ["bad"])
        #expect(try await a.items.status().pending == 1)
        #expect(try await a.items.status(of: "bad").pauseReason?.code == .rejected)
        world.remote.outcomes(nil)
        try world.foreignDelete("bad")
        try await a.items.resumeSync(of: "bad")
        try await a.sync()
        #expect(try world.remoteDocument("bad") == ["_id": "bad"])
        #expect(try await a.items.status() == SyncStatus(synced: 2))
    }
}
