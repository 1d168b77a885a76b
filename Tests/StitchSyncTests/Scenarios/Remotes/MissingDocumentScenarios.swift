import BSONStore
import Foundation
import Testing

@testable import StitchSync

/// A document that is missing after a gap in the history may be lost there, not deleted.
@Suite(.remotes)
struct MissingDocumentScenarios {
    /// A device that holds three documents, one of which goes at the remote beyond its history.
    private func device(
        in world: SyncWorld, _ policy: UnexplainedAbsencePolicy = .keep,
        handler: ConflictHandler<BSONDocument> = .localWins
    ) async throws -> Device {
        let a = Device(
            name: "A", world: world, store: try DocumentStore(at: .inMemory), handler: handler,
            remote: PlainRemote(base: world.remote, tellsIdentity: true))
        try await a.start()
        await a.items.configure(
            conflictHandler: handler,
            changeEventListener: { world.note("\($0.reason) \($0.operationType)") },
            errorListener: { error, _ in world.note("error \(error.code.rawValue)") },
            unexplainedAbsence: policy)
        for id in ["gone", "other", "third"] {
            try await a.insert(["_id": .string(id), "x": 1])
        }
        try await a.engine.syncUntilQuiet()
        try world.foreignDelete("gone")
        try world.foreign("other") { $0["x"] = 2 }
        world.loseHistory()
        await a.engine.flushEvents()
        _ = world.transcript()
        return a
    }

    /// Syncs over the gap, and again with a history.
    private func syncOverGap(_ a: Device) async throws -> SyncPassReport {
        let report = try await a.sync()
        a.world.remote.before(nil)
        try await a.sync()
        return report
    }

    @Test("it is kept, readable, counted and not sent; the others go on, and the app is told once")
    func keeps() async throws {
        let world = try SyncWorld()
        let a = try await device(in: world)
        let report = try await syncOverGap(a)
        #expect(report.unexplained == 1 && report.removed == 0)
        #expect(try await a.local("gone") == ["_id": "gone", "x": 1])
        #expect(try await a.local("other")?["x"] == 2)
        #expect(try await a.items.unexplainedIDs == ["gone"])
        #expect(try await a.items.pausedIDs == [])
        #expect(try await a.items.status(of: "gone") == .unexplained)
        #expect(try await a.items.status() == SyncStatus(synced: 3, unexplained: 1))
        #expect(world.transcript().filter { $0.hasPrefix("error") } == ["error unexplainedAbsence"])
        try await a.engine.forceScan(SyncWorld.namespace)
        try await a.engine.syncUntilQuiet()
        #expect(try await a.items.unexplainedIDs == ["gone"])
        #expect(try world.remoteDocument("gone") == nil)
    }

    @Test(
        "it takes part again when the remote has it again, and goes when the remote deletes it then"
    )
    func comesBack() async throws {
        let world = try SyncWorld()
        let a = try await device(in: world)
        _ = try await syncOverGap(a)
        try world.foreign("gone") { $0["x"] = 7 }
        try await a.engine.syncUntilQuiet()
        #expect(try await a.local("gone") == ["_id": "gone", "x": 7])
        #expect(try await a.items.status() == SyncStatus(synced: 3))
        try world.foreignDelete("gone")
        try await a.engine.syncUntilQuiet()
        #expect(try await a.local("gone") == nil)
    }

    @Test("a local write to it is a conflict with nothing at the remote")
    func write() async throws {
        let world = try SyncWorld()
        let seen = Locked<[Conflict<BSONDocument>]>([])
        let a = try await device(
            in: world,
            handler: ConflictHandler { conflict in
                seen.withLock { $0.append(conflict) }
                return .useLocal
            })
        _ = try await syncOverGap(a)
        try await a.set("gone", ["x": 5])
        try await a.engine.syncUntilQuiet()
        let conflicts = seen.withLock { $0 }
        #expect(conflicts.count == 1 && conflicts.first?.remote == nil)
        #expect(try world.remoteDocument("gone") == ["_id": "gone", "x": 5])
    }

    @Test("a local delete of it ends it on both sides")
    func delete() async throws {
        let world = try SyncWorld()
        let a = try await device(in: world)
        _ = try await syncOverGap(a)
        try await a.delete("gone")
        try await a.engine.syncUntilQuiet()
        #expect(try await a.items.status() == SyncStatus(synced: 2))
    }

    @Test("the app removes or uploads all of them at once", arguments: UnexplainedAnswer.allCases)
    func resolves(answer: UnexplainedAnswer) async throws {
        let world = try SyncWorld()
        let a = try await device(in: world)
        _ = try await syncOverGap(a)
        #expect(try await a.items.resolveUnexplained(answer) == 1)
        try await a.engine.syncUntilQuiet()
        let (here, there) = (try await a.local("gone"), try world.remoteDocument("gone"))
        switch answer {
        case .keep: #expect(here != nil && there == nil)
        case .remove: #expect(here == nil && there == nil)
        case .upload: #expect(here != nil && there == here)
        }
        #expect(try await a.items.unexplainedIDs == (answer == .keep ? ["gone"] : []))
    }

    @Test("a policy may take the absence for a delete")
    func removes() async throws {
        let world = try SyncWorld()
        let a = try await device(in: world, .remove)
        _ = try await syncOverGap(a)
        #expect(try await a.local("gone") == nil)
        #expect(world.transcript().contains("remote delete"))
    }

    @Test("a policy may ask, and what it answers is carried out")
    func asks() async throws {
        let world = try SyncWorld()
        let a = try await device(
            in: world,
            .ask { absence in
                world.note("asked \(absence.documentIDs)")
                return .upload
            })
        _ = try await syncOverGap(a)
        try await a.engine.syncUntilQuiet()
        #expect(try world.remoteDocument("gone") == ["_id": "gone", "x": 1])
        #expect(world.transcript().contains { $0.hasPrefix("asked") })
    }

    @Test("a document that takes part again is not removed because the remote lacks it")
    func resumes() async throws {
        let world = try SyncWorld()
        let a = try await device(in: world)
        _ = try await syncOverGap(a)
        #expect(try await a.items.resumeSync(of: "gone"))
        try await a.engine.syncUntilQuiet()
        #expect(try await a.local("gone") != nil)
        #expect(try await a.items.unexplainedIDs == ["gone"])
    }

    @Test("a delete between the history and the look is a delete")
    func race() async throws {
        let world = try SyncWorld()
        let a = try await device(in: world)
        world.remote.before(nil)
        try await a.engine.syncUntilQuiet()
        try world.foreign("third") { $0["x"] = 3 }
        world.remote.before { call in
            guard call.kind == .find else { return }
            world.remote.before(nil)
            try world.foreignDelete("third")
        }
        let report = try await a.sync()
        #expect(report.unexplained == 0)
        try await a.engine.syncUntilQuiet()
        #expect(try await a.local("third") == nil)
    }

    @Test(
        "a document that is put back between the look and the search for its delete is here again",
        arguments: [true, false])
    func putBackMeanwhile(isSame: Bool) async throws {
        let world = try SyncWorld()
        let a = try await device(in: world)
        world.remote.before(nil)
        try await a.engine.syncUntilQuiet()
        let whole = try #require(try world.remoteDocuments.document("third"))
        try world.foreign("third") { $0["x"] = 3 }
        let finds = Locked(0)
        world.remote.before { call in
            switch call.kind {
            case .find where finds.withLock({ $0 == 0 }):
                finds.withLock { $0 = 1 }
                try world.foreignDelete("third")
            case .changes where finds.withLock({ $0 == 1 }):
                finds.withLock { $0 = 2 }
                try world.remoteDocuments.put(isSame ? whole : ["_id": "third", "x": 8])
            default: break
            }
        }
        let report = try await a.sync()
        #expect(finds.withLock { $0 } == 2)
        #expect(report.unexplained == 0)
        world.remote.before(nil)
        try await a.engine.syncUntilQuiet()
        #expect(try await a.items.unexplainedIDs == [])
        #expect(try await a.local("third")?["x"] == (isSame ? 1 : 8))
    }

    @Test("a change that is taken back keeps what the history told of the document's delete")
    func takenBack() async throws {
        let world = try SyncWorld()
        let a = try await device(in: world)
        world.remote.before(nil)
        try await a.engine.syncUntilQuiet()
        // A foreign version, at which a change waits; its delete leaves no version to compare.
        try world.foreign("third") { $0["__stitch_sync_version"] = "mine" }
        try await a.engine.syncUntilQuiet()
        try await a.set("third", ["x": 5])
        try world.foreignDelete("third")
        world.remote.before { call in
            guard call.kind == .find else { return }
            throw RemoteError(.retryable, "the answer is lost")
        }
        try await a.sync()
        #expect(try await a.items.discardPendingChange(of: "third"))
        world.remote.before(nil)
        try await a.engine.syncUntilQuiet()
        #expect(try await a.items.unexplainedIDs == [])
        #expect(try await a.local("third") == nil)
    }

    @Test("where two looks of a pass miss one document, its conflict is asked about once")
    func missedTwice() async throws {
        let world = try SyncWorld()
        let asked = Locked(0)
        let a = Device(
            name: "A", world: world, store: try DocumentStore(at: .inMemory),
            handler: ConflictHandler<BSONDocument> { _ in
                asked.withLock { $0 += 1 }
                return .useLocal
            })
        try await a.start()
        try await a.insert(["_id": "gone", "x": 1])
        try await a.engine.syncUntilQuiet()
        try world.foreign("gone") { $0["x"] = 2 }
        let finds = Locked(0)
        world.remote.before { call in
            guard call.kind == .find else { return }
            let number = finds.withLock { count in
                count += 1
                return count
            }
            // The history was read before the delete; the write comes before the last look.
            if number == 1 { try world.foreignDelete("gone") }
            if number == 3 { _ = try await a.items.updateOne(["_id": "gone"], ["$set": ["x": 3]]) }
        }
        try await a.sync()
        #expect(finds.withLock { $0 } >= 3)
        #expect(asked.withLock { $0 } == 1)
        world.remote.before(nil)
        try await a.engine.syncUntilQuiet()
        #expect(try world.remoteDocument("gone")?["x"] == 3)
        #expect(asked.withLock { $0 } == 1)
    }
}
