import BSONStore
import StitchRules
import Testing

@testable import StitchSync

/// A strict collection tells at the call what would be taken back later, and never refuses what might
/// be allowed: 158 of the acceptance list.
struct StrictWriteScenarios {
    private func error(_ body: () async throws -> Void) async -> SyncError? {
        do {
            try await body()
            Issue.record("nothing was refused")
            return nil
        } catch {
            return error as? SyncError
        }
    }

    @Test("by rules: refused writes store nothing")
    func byRules() async throws {
        let world = try RuledWorld()
        let rules = try RuledWorld.rules(RuledWorld.ownerReadWrite)
        let engine = try await world.engine(
            strict: StrictWrites(rules: (rules, RuleUser(id: "ann"))))
        let items = engine.items
        try await items.insertOne(["_id": "mine", "ownerId": "ann", "locked": true])
        let refused = await error { try await items.insertOne(["_id": "k", "ownerId": "zoe"]) }
        #expect(refused?.code == .writeRefused && refused?.documentID == "k")
        #expect(refused?.compensatingWrite?.cause == .writeFilter(isOfResult: false))
        #expect(
            refused?.message
                == #"write to "k" in table "items" was denied by write filter in role "owner-read-write""#
        )
        // What was never sent may always be taken back, whatever the rules say of documents there.
        try await items.deleteOne(["_id": "mine"])
        try await items.insertOne(["_id": "mine", "ownerId": "ann", "locked": true])
        try await engine.passed()
        let locked = await error { try await items.deleteOne(["_id": "mine"]) }
        #expect(locked?.compensatingWrite?.cause == .deleteDenied)
        let given = await error {
            try await items.updateOne(["_id": "mine"], ["$set": ["ownerId": "zoe"]])
        }
        #expect(given?.compensatingWrite?.cause == .writeFilter(isOfResult: true))
        let bulk = await error {
            try await items.bulkWrite([.insertOne(["_id": "x", "ownerId": "zoe"])])
        }
        #expect(bulk?.code == .writeRefused)
        #expect(try items.find().fetch().count == 1)
        #expect(try await items.status() == SyncStatus(synced: 1))
        #expect(try await engine.verify().isEmpty)
    }

    /// A device behind a mask, with the document `k`.
    private func masked(
        writing filter: String
    ) async throws -> (RuledWorld, SyncCollection<BSONDocument>) {
        let roles = """
            [{"name": "clerk", "apply_when": {},
              "document_filters": {"read": true, "write": \(filter)},
              "fields": {"n": {"read": true, "write": true}, "fixed": {"read": true}},
              "additional_fields": {"read": false, "write": false}, "insert": true}]
            """
        let world = try RuledWorld(roles)
        let engine = try await world.engine(
            strict: StrictWrites(rules: (RuledWorld.rules(roles), RuleUser(id: "ann"))))
        try world.foreign("k", ["n": 1, "fixed": 1, "hidden": 1])
        try await engine.items.sync(ids: ["k"])
        try await engine.passed()
        #expect(try engine.items.findOne(id: "k") == ["_id": "k", "n": 1, "fixed": 1])
        return (world, engine.items)
    }

    @Test("behind a mask only what is certain is refused")
    func maskedFields() async throws {
        // Whether the filter holds depends on what is hidden.
        let (world, items) = try await masked(writing: #"{"hidden": 1}"#)
        try await items.updateOne(["_id": "k"], ["$set": ["n": 2]])
        #expect(try await items.engine.passed().uploaded == 1)
        #expect(try world.document("k") == ["_id": "k", "n": 2, "fixed": 1, "hidden": 1])
        let (_, open) = try await masked(writing: "true")
        let fixed = await error {
            try await open.updateOne(["_id": "k"], ["$set": ["fixed": 2]])
        }
        #expect(fixed?.compensatingWrite?.cause == .fieldsDenied(["fixed"]))
        try await open.updateOne(["_id": "k"], ["$set": ["n": 2]])
        #expect(try await open.engine.passed().uploaded == 1)
    }

    @Test("by view: what no subscription asks for is refused, leaving the view is not")
    func byView() async throws {
        let world = try RuledWorld()
        let queries = Locked<[SubscriptionQuery]>([])
        let engine = try await world.engine(
            strict: StrictWrites(view: { queries.withLock { $0 } }))
        let items = engine.items
        let item: BSONDocument = ["_id": "k", "ownerId": "ann", "complexity": 7]
        let none = await error { try await items.insertOne(item) }
        #expect(none?.compensatingWrite?.cause == .noSubscription)
        let simple = try SubscriptionQuery(RuledWorld.items, ["complexity": ["$lte": 4]])
        queries.withLock { $0 = [simple] }
        let outside = await error { try await items.insertOne(item) }
        #expect(outside?.compensatingWrite?.cause == .outOfView)
        #expect(
            outside?.message == #"write to "k" in table "items" not allowed; "#
                + "object is outside of the current query view")
        try await items.insertOne(["_id": "k", "ownerId": "ann", "complexity": 3])
        try await engine.passed()
        try await items.updateOne(["_id": "k"], ["$set": ["complexity": 7]])
        #expect(try await engine.passed().uploaded == 1)
        let left = await error {
            try await items.updateOne(["_id": "k"], ["$set": ["complexity": 3]])
        }
        #expect(left?.compensatingWrite?.cause == .outOfView)
    }
}
