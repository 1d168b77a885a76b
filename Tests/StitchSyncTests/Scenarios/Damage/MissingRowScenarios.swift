import Testing

@testable import BSONCore
@testable import BSONStore
@testable import StitchSync

/// A row that is missing was not deleted by anybody: only a user's delete is sent.
@Suite(.remotes)
struct MissingRowScenarios {
    /// A device in step with two documents; changes of some wait.
    private static func device(_ world: SyncWorld, changing ids: [String]) async throws -> Device {
        let a = try await world.device("A", handler: .remoteWins)
        try await a.insert(["_id": "lost", "x": 1])
        try await a.insert(["_id": "whole", "x": 1])
        try await a.engine.syncUntilQuiet()
        for id in ids { try await a.set(.string(id), ["x": 2]) }
        return a
    }

    /// Has the row of a document go from the table, as damage does.
    private static func lose(_ id: String, _ a: Device) async throws {
        try await a.store.write { transaction in
            let table = try #require(
                try Catalog.read(SyncWorld.namespace, transaction.connection))
            let delete = try transaction.connection.prepare(
                "DELETE FROM \(StoreSchema.tableName(table.id)) WHERE key = ?1")
            delete.bind(1, keyOf: .string(id))
            try delete.run()
        }
    }

    @Test("with a change is never sent: told once, paused, and fetched again")
    func changed() async throws {
        let world = try SyncWorld()
        let a = try await Self.device(world, changing: ["lost", "whole"])
        try await Self.lose("lost", a)
        #expect(try await a.engine.verify().map(\.kind) == [.localDocumentMissing])
        let report = try await a.engine.syncNow()
        #expect(report.paused == 1)
        #expect(try await a.engine.syncNow().paused == 0)
        #expect(try world.remoteDocument("lost") == ["_id": "lost", "x": 1])
        #expect(try world.remoteDocument("whole") == ["_id": "whole", "x": 2])
        #expect(try await a.items.status(of: "lost").pauseReason?.code == .localDocumentMissing)
        #expect(try await a.engine.verify().map(\.kind) == [.localDocumentMissing])
        await a.engine.flushEvents()
        _ = world.transcript()
        #expect(try await a.items.resumeSync(of: "lost"))
        try await a.engine.syncUntilQuiet()
        #expect(try await a.local("lost") == ["_id": "lost", "x": 1])
        #expect(try await a.engine.verify() == [])
    }

    @Test("with a change is reported also where the remote changed meanwhile")
    func changedAndLooked() async throws {
        let world = try SyncWorld()
        let a = try await Self.device(world, changing: ["lost"])
        try await Self.lose("lost", a)
        try world.foreign("lost") { $0["x"] = 9 }
        let report = try await a.engine.syncNow()
        #expect(report.paused == 1 && report.errors == [.localDocumentMissing])
        #expect(try await a.items.status(of: "lost").pauseReason?.code == .localDocumentMissing)
        #expect(try world.remoteDocument("lost")?["x"] == 9)
        #expect(try await a.items.resumeSync(of: "lost"))
        try await a.engine.syncUntilQuiet()
        #expect(try await a.local("lost")?["x"] == 9)
        await a.engine.flushEvents()
        _ = world.transcript()
    }

    @Test("without a change is told once, and comes again with the next look or comparison")
    func renewed() async throws {
        let world = try SyncWorld()
        let a = try await Self.device(world, changing: [])
        try await Self.lose("lost", a)
        try world.foreign("lost") { $0["x"] = 9 }
        let report = try await a.engine.syncNow()
        #expect(report.errors == [.localDocumentMissing] && report.taken == 1)
        #expect(try await a.local("lost")?["x"] == 9)
        #expect(try await a.engine.syncNow().errors == [])
        try await Self.lose("whole", a)
        try await a.engine.forceScan(SyncWorld.namespace)
        let errors = try await a.engine.syncUntilQuiet().report.errors
        #expect(errors == [.localDocumentMissing])
        #expect(try await a.local("whole") == ["_id": "whole", "x": 1])
        #expect(try await a.engine.verify() == [])
        await a.engine.flushEvents()
        _ = world.transcript()
    }

    @Test("without a change is no delete, and is found")
    func unchanged() async throws {
        let world = try SyncWorld()
        let a = try await Self.device(world, changing: [])
        try await Self.lose("lost", a)
        #expect(try await a.engine.verify().map(\.kind) == [.localDocumentMissing])
        try await a.engine.syncUntilQuiet()
        #expect(try world.remoteDocument("lost") == ["_id": "lost", "x": 1])
        // Written anew it is sent, against what the remote holds.
        try await a.insert(["_id": "lost", "x": 7])
        try await a.engine.syncUntilQuiet()
        #expect(try await a.local("lost") == world.remoteDocument("lost"))
        await a.engine.flushEvents()
        _ = world.transcript()
    }

    @Test("with a change that landed unknown, and written anew, is sent as it is now")
    func writtenAnewAfterLostAnswer() async throws {
        let world = try SyncWorld()
        let a = try await world.device("A", handler: .localWins)
        try await a.insert(["_id": "lost", "x": 1])
        try await a.engine.syncUntilQuiet()
        try await a.set("lost", ["x": 2])
        world.remote.after { call in
            if call.kind == .write { throw RemoteError(.retryable, "the answer is lost") }
        }
        _ = try await a.engine.syncNow()
        world.remote.after(nil)
        #expect(try world.remoteDocument("lost")?["x"] == 2)
        try await Self.lose("lost", a)
        try await a.insert(["_id": "lost", "x": 7])
        try await a.engine.syncUntilQuiet()
        #expect(try await a.local("lost") == ["_id": "lost", "x": 7])
        #expect(try world.remoteDocument("lost") == ["_id": "lost", "x": 7])
        #expect(try await a.engine.verify() == [])
        await a.engine.flushEvents()
        _ = world.transcript()
    }

    @Test(
        "that the app writes anew and takes back comes again", arguments: [false, true])
    func takenBack(isAnswerLost: Bool) async throws {
        let world = try SyncWorld()
        let a = try await world.device("A", handler: .remoteWins)
        try await a.engine.subscriptions.update { set in
            set.insertOrAssign(try SubscriptionQuery(SyncWorld.namespace, [:]))
        }
        try await a.engine.syncUntilQuiet()
        if isAnswerLost {
            world.remote.after { call in
                if call.kind == .write { throw RemoteError(.retryable, "the answer is lost") }
            }
        }
        try await a.insert(["_id": "lost", "x": 1])
        _ = try await a.engine.syncNow()
        world.remote.after(nil)
        try await Self.lose("lost", a)
        try await a.insert(["_id": "lost", "x": 7])
        try await a.items.deleteOne(["_id": "lost"])
        try await a.engine.syncUntilQuiet()
        #expect(try world.remoteDocument("lost") == ["_id": "lost", "x": 1])
        #expect(try await a.local("lost") == ["_id": "lost", "x": 1])
        #expect(try await a.engine.verify() == [])
        await a.engine.flushEvents()
        _ = world.transcript()
    }

    @Test("that a new set of subscriptions asks for comes again")
    func newSubscriptions() async throws {
        let world = try SyncWorld()
        try world.foreign("lost") { $0["x"] = 1 }
        try world.foreign("other") { $0["x"] = 1 }
        let a = try await world.device("A", handler: .remoteWins)
        func subscribe(_ filter: BSONDocument) async throws {
            let query = try SubscriptionQuery(SyncWorld.namespace, filter)
            try await a.engine.subscriptions.update { set in
                set.removeAll()
                set.insertOrAssign(query)
            }
        }
        try await subscribe(["x": ["$gte": 0]])
        try await a.engine.syncUntilQuiet()
        #expect(try await a.local("lost")?["x"] == 1)
        try await subscribe(["x": 1])
        try await Self.lose("lost", a)
        try await a.engine.syncUntilQuiet()
        #expect(try await a.local("lost")?["x"] == 1)
        #expect(try await a.local("other")?["x"] == 1)
        await a.engine.flushEvents()
        _ = world.transcript()
    }
}
