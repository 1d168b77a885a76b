import BSONStore
import StitchSync
import Testing

/// The four samples of Device Sync's page on writes, as Docs/MIGRATING.md shows them in typed calls.
///
/// Without these the page would promise code that does not do what it says.
@Suite struct TypedSeedSamplesTests {
    // The model.
    struct Item: TypedDocument, Equatable {
        var id = BSONObjectID()
        var ownerID: String
        var itemName: String
        var complexity: Int

        enum CodingKeys: String, CodingKey {
            case id = "_id"
            case ownerID = "ownerId"
            case itemName, complexity
        }

        struct Fields: Sendable {
            let id = Field<BSONObjectID>("_id")
            let ownerID = Field<String>("ownerId")
            let itemName = Field<String>("itemName")
            let complexity = Field<Int>("complexity")
        }
        static var fields: Fields { Fields() }
    }

    @Test func `write, subscription, error handler and compensating write`() async throws {
        let remote = try InProcessRemote(at: .inMemory)
        let engine = try SyncEngine(store: DocumentStore(at: .inMemory), remote: remote)
        let items = engine.collection(Namespace("app", "Item"), of: Item.self)
        let (lines, log) = AsyncStream.makeStream(of: String.self)

        // Subscription.
        try await items.subscribe(named: "simple-items") { $0.complexity <= 4 }

        // Error handler.
        await items.configure(
            conflictHandler: .mergeFields(),
            errorListener: { error, _ in
                for write in error.compensatingWrites {
                    log.yield(write.objectName)
                    log.yield("\(write.primaryKey)")
                    log.yield(write.reason)
                }
            })

        // Write.
        let simple = Item(ownerID: "ann", itemName: "This item meets sync criteria", complexity: 3)
        try await items.insertOne(simple)
        try await engine.syncUntilQuiet()
        #expect(
            try remote.store.collection(items.namespace, of: Item.self).find().fetch() == [simple])

        // Compensating write.
        let hard = Item(ownerID: "ann", itemName: "Test compensating writes", complexity: 7)
        try await items.insertOne(hard)
        #expect(try items.find { $0.id == hard.id }.count() == 1)
        try await engine.syncUntilQuiet()
        #expect(try items.find().fetch() == [simple])
        await engine.flushEvents()
        log.finish()
        var reported: [String] = []
        for await line in lines { reported.append(line) }
        #expect(
            reported == [
                "Item", "\(BSONValue.objectID(hard.id))",
                "write to \"\(hard.id)\" in table \"Item\" not allowed; object is outside of the "
                    + "current query view",
            ])
    }
}
