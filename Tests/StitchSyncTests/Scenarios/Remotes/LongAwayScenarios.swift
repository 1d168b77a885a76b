import BSONStore
import Testing

@testable import StitchSync

/// A device that was away for longer than the remote's change history reaches.
struct LongAwayScenarios {
    /// A device of a remote that keeps few changes.
    private struct Away {
        let engine: SyncEngine
        var items: SyncCollection<BSONDocument> { engine.collection(SyncWorld.namespace) }

        init(_ remote: DocumentStore) async throws {
            engine = try SyncEngine(
                store: DocumentStore(at: .inMemory), remote: InProcessRemote(store: remote))
            await items.configure(conflictHandler: .remoteWins)
        }

        func begin(_ ids: [BSONValue], bySubscription: Bool) async throws {
            if bySubscription {
                let query = try SubscriptionQuery(items.find([:]))
                try await engine.subscriptions.update { $0.insertOrAssign(query, named: "all") }
            } else {
                try await items.sync(ids: ids)
            }
            try await engine.syncUntilQuiet()
        }
    }

    @Test(
        "while another deleted most documents is in step again by itself",
        arguments: [false, true])
    func deletedMost(bySubscription: Bool) async throws {
        let store = try DocumentStore(
            at: .inMemory, options: .init(changeHistory: .keep(changesMax: 10)))
        let ids = (0..<200).map { BSONValue.int32($0) }
        for id in ids {
            try await store.write { try $0.put(SyncWorld.namespace, ["_id": id, "x": 1]) }
        }
        let (a, b) = (try await Away(store), try await Away(store))
        try await a.begin(ids, bySubscription: bySubscription)
        try await b.begin(ids, bySubscription: bySubscription)
        try await a.engine.syncUntilQuiet()
        let position = try store.changePosition

        for id in ids.dropFirst(20) { try await b.items.deleteOne(["_id": id]) }
        try await b.items.updateOne(["_id": ids[0]], ["$set": ["x": 2]])
        // One of the deleted ones was made anew, and another deleted by a tool.
        try await b.engine.syncUntilQuiet()
        try await b.items.insertOne(["_id": ids[30], "x": 3])
        try await b.engine.syncUntilQuiet()
        try await store.write { _ = try $0.remove(SyncWorld.namespace, id: ids[1]) }
        // The device changed one that stays and one that is gone.
        try await a.items.updateOne(["_id": ids[2]], ["$set": ["y": 1]])
        try await a.items.updateOne(["_id": ids[199]], ["$set": ["y": 1]])
        let lost = #expect(throws: StoreError.self) {
            try store.changes(after: position, limit: 1)
        }
        #expect(lost?.code == .changeStreamHistoryLost)

        try await a.engine.syncUntilQuiet()
        #expect(try await a.items.unexplainedIDs == [])
        #expect(try await a.items.status() == SyncStatus(synced: 20))
        let here = try a.items.find().fetch().map { $0.extendedJSON(.canonical) }.sorted()
        let there = try store.collection(SyncWorld.namespace).find().fetch()
            .map { $0.withoutVersion.extendedJSON(.canonical) }.sorted()
        #expect(here == there && here.count == 20)
        #expect(try a.items.findOne(id: ids[2])?["y"] == 1)
        #expect(try a.items.findOne(id: ids[30])?["x"] == 3)
        #expect(try await a.engine.verify() == [])
    }
}
