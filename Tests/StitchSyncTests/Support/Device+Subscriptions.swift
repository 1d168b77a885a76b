import BSONStore
import Testing

@testable import StitchSync

extension Device {
    /// Makes a set in which a subscription has a filter.
    @discardableResult
    func subscribe(_ name: String? = nil, to filter: BSONDocument) async throws -> Int64 {
        let query = try SubscriptionQuery(items.find(filter))
        return try await engine.subscriptions.update {
            $0.insertOrAssign(query, named: name)
        }.version
    }

    /// Syncs until nothing is left to do.
    @discardableResult
    func settle() async throws -> SyncPassReport {
        let report = try await engine.syncUntilQuiet().report
        await engine.flushEvents()
        #expect(try await engine.verify() == [], "the structural check after passes of \(name)")
        return report
    }

    /// The `_id`s of the documents that are here, in order.
    var heldIDs: [BSONValue] {
        get async throws {
            try items.find().sort(["_id": 1]).fetch()
                .map(\.documentID)
        }
    }

    /// Rows of a table of the engine's.
    func rowCount(_ table: String) throws -> Int64 {
        try store.read { try $0.connection.int64("SELECT count(*) FROM \(table)") ?? 0 }
    }
}
