import BSONStore
import StitchSync
import StitchSyncTesting
import Testing

/// Without these the journal that tools read would grow for ever, or keep what has left the device.
struct JournalTests {
    private static let items = Namespace("shop", "items")

    /// A device that has a number of documents, each changed here and at the remote.
    private func device(
        of world: TestWorld, conflicts count: Int, kept: Int = 16,
        handler: ConflictHandler<BSONDocument>? = .localWins
    ) async throws -> TestDevice {
        var limits = SyncLimits()
        limits.conflictsKept = kept
        let device = try await world.device("phone", limits: limits) { engine in
            await engine.collection(Self.items).configure(conflictHandler: handler)
        }
        let items = device.engine.collection(Self.items)
        for id in 0..<count { try await items.insertOne(["_id": .int64(Int64(id)), "a": 0]) }
        _ = try await device.syncUntilQuiet()
        try await items.updateMany([:], ["$set": ["a": 1]])
        try await world.remoteStore.collection(Self.items).updateMany(
            [:], ["$set": ["a": 2], "$inc": ["\(DocumentVersion.fieldName).v": 1]])
        return device
    }

    @Test func `the newest conflicts are kept with all editions, and no more than so many`()
        async throws
    {
        let world = try TestWorld()
        let device = try await device(of: world, conflicts: 7, kept: 3)
        _ = try await device.syncUntilQuiet()
        let noted = try device.engine.journaledConflicts()
        #expect(noted.map(\.documentID) == [.int64(4), .int64(5), .int64(6)])
        #expect(noted.last?.base?["a"] == 0)
        #expect(noted.last?.local?["a"] == 1)
        #expect(noted.last?.remote?["a"] == 2)
        #expect(noted.last?.answer == .useLocal)
    }

    @Test func `a conflict over large documents is answered and not kept`() async throws {
        let world = try TestWorld()
        let device = try await device(of: world, conflicts: 2)
        try await world.remoteStore.collection(Self.items).updateMany(
            ["_id": 0], ["$set": ["text": .string(String(repeating: "x", count: 300 * 1_024))]])
        _ = try await device.syncUntilQuiet()
        #expect(try device.engine.journaledConflicts().map(\.documentID) == [.int64(1)])
    }

    @Test func `a store that is to keep none keeps none`() async throws {
        let world = try TestWorld()
        let device = try await device(of: world, conflicts: 2, kept: 0)
        _ = try await device.syncUntilQuiet()
        #expect(try device.engine.journaledConflicts().isEmpty)
    }

    @Test func `a conflict that waits for a handler is noted, and once more when it is answered`()
        async throws
    {
        let world = try TestWorld()
        let device = try await device(of: world, conflicts: 1, handler: nil)
        _ = try await device.syncUntilQuiet()
        #expect(try device.engine.journaledConflicts().map(\.answer) == [.waits])
        await device.engine.collection(Self.items).configure(conflictHandler: .remoteWins)
        _ = try await device.syncUntilQuiet()
        #expect(try device.engine.journaledConflicts().map(\.answer) == [.useRemote])
    }

    @Test func `a document that is no longer synced leaves no copy in the journal`() async throws {
        let world = try TestWorld()
        let device = try await device(of: world, conflicts: 2)
        _ = try await device.syncUntilQuiet()
        try await device.engine.collection(Self.items).desync(ids: [0])
        #expect(try device.engine.journaledConflicts().map(\.documentID) == [.int64(1)])
    }

    @Test func `passes that do nothing, or fail again, write nothing`() async throws {
        let world = try TestWorld()
        let device = try await device(of: world, conflicts: 1)
        _ = try await device.syncUntilQuiet()
        let count = try device.engine.journaledPasses().count
        for _ in 0..<3 { try await device.sync() }
        #expect(try device.engine.journaledPasses().count == count)
        for _ in 0..<3 {
            device.network.next(.changes, .loseRequest)
            try await device.sync()
        }
        let passes = try device.engine.journaledPasses()
        #expect(passes.count == count + 1)
        #expect(passes.last?.report.errors == [.remoteUnavailable])
        #expect(passes.contains { $0.report.conflicts == 1 })
    }

    @Test func `old passes make room for new ones`() async throws {
        let world = try TestWorld()
        let device = try await device(of: world, conflicts: 1)
        let items = device.engine.collection(Self.items)
        for number in 0..<210 {
            try await items.updateOne(["_id": 0], ["$set": ["a": .int64(Int64(number + 3))]])
            try await device.sync()
        }
        #expect(try device.engine.journaledPasses().count == 200)
    }
}
