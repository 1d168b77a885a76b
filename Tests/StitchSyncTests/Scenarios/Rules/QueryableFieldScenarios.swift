import BSONStore
import Testing

@testable import StitchSync

/// A subscription by a field that is not queryable works in the tests and not in Device Sync.
struct QueryableFieldScenarios {
    private static var kinds: [RemoteKind] {
        #if MongoRemote
            RemoteKind.wanted.filter { !$0.isShared } + [.gateway]
        #else
            RemoteKind.wanted
        #endif
    }

    @Test("every remote refuses a query by another field, with the same text", arguments: kinds)
    func refusal(kind: RemoteKind) async throws {
        try await SyncWorld.$remoteKind.withValue(kind) {
            let world = try RuledWorld(RuledWorld.everybodyByOwner)
            try world.foreign("a", ["ownerId": "ann", "n": 1])
            let engine = try await world.engine()
            let items = engine.items
            try await items.subscribe(to: ["ownerId": "ann"], named: "own")
            let text =
                "Client provided query with bad syntax: unsupported query for table \"items\": key "
                + "\"n\" is not a queryable field"
            let error = await #expect(throws: SyncError.self) {
                try await items.subscribe(to: ["n": 1], named: "n")
            }
            #expect(error?.code == .subscriptionFailed && error?.message == text)
            #expect(try engine.subscriptions.state == .error(text))
            let waiting = await #expect(throws: SyncError.self) {
                try await engine.waitForDownload()
            }
            #expect(waiting?.code == .subscriptionFailed)
            // Also where the device has documents and asks for versions; other reads are free.
            #expect(try items.find(["n": 1]).first()?["_id"] == "a")
            try await engine.subscriptions.remove(named: "n")
            #expect(try engine.subscriptions.state == .complete)
        }
    }
}
