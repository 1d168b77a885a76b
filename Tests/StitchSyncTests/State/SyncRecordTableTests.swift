import BSONStore
import Testing

@testable import StitchSync

/// A write to a record that is not the stored one is noticed.
///
/// Otherwise a decision about an outdated record would count as stored.
struct SyncRecordTableTests {
    /// The error that rolls a trial back.
    private struct Undo: Error {}

    private func tryWrites(
        checkingRevisions: Bool,
        _ body: @escaping @Sendable (SyncRecordTable, SyncRecord, Int64) throws -> Void
    ) async throws {
        let world = try SyncWorld()
        let a = try await world.device("A", handler: nil)
        try await a.insert(["_id": 1])
        await #expect(throws: Undo.self) {
            try await a.engine.write(a.items.namespace) { sync in
                var records = sync.records
                records.checksRevisions = checkingRevisions
                try body(records, #require(try sync.record(1)), sync.collection.rowID)
                throw Undo()
            }
        }
        try await a.sync()
    }

    @Test("a removed record is neither saved nor removed again", arguments: [false, true])
    func removed(checkingRevisions: Bool) async throws {
        try await tryWrites(checkingRevisions: checkingRevisions) { records, record, collection in
            try records.remove(record)
            #expect(throws: SyncRecordTable.OutdatedRevision.self) {
                try records.save(record, in: collection)
            }
            #expect(throws: SyncRecordTable.OutdatedRevision.self) { try records.remove(record) }
        }
    }

    @Test("a record that was saved since is refused where revisions are checked")
    func savedMeanwhile() async throws {
        try await tryWrites(checkingRevisions: true) { records, record, collection in
            let next = try records.save(record, in: collection)
            #expect(next.revision == record.revision + 1)
            #expect(throws: SyncRecordTable.OutdatedRevision.self) {
                try records.save(record, in: collection)
            }
            #expect(throws: SyncRecordTable.OutdatedRevision.self) { try records.remove(record) }
            try records.remove(next)
        }
        try await tryWrites(checkingRevisions: false) { records, record, collection in
            try records.save(record, in: collection)
            try records.save(record, in: collection)
            try records.remove(record)
        }
    }

    @Test("a new stale mark or reason leaves the revision as it is")
    func marks() async throws {
        try await tryWrites(checkingRevisions: true) { records, record, collection in
            try records.setStaleMark(of: record, to: 7)
            try records.setReason(of: record, to: .request)
            #expect(try records.staleMark(ofUnchanged: record) == 7)
            try records.save(record, in: collection)
            let stored = try records.record(of: 1, in: collection)
            #expect(stored?.reason == .request)
            #expect(try records.staleMark(ofUnchanged: record) == nil)
        }
    }
}
