import BSONStore
import Foundation
import StitchSync
import Testing

@testable import StitchSyncTesting

/// Without this the conflicts of the fleet could not be replayed with a new handler.
struct SharedConflictFixtureTests {
    private static let shared: BSONDocument = [
        "_id": .objectID(BSONObjectID()), "namespace": "shop.items",
        "time": .datetime(BSONDatetime(milliseconds: 0)), "documentID": 1, "decision": "useRemote",
        "mayHaveLanded": false, "base": ["_id": 1, "a": "plan"],
        "local": ["_id": 1, "a": "mine"], "remote": ["_id": 1, "a": "theirs"],
        "result": ["_id": 1, "a": "theirs"],
        "baseVersion": ["spv": 1, "id": "fixture", "v": .int64(0)],
        "remoteVersion": ["spv": 1, "id": "fixture", "v": .int64(1)],
    ]

    @Test func `a shared conflict becomes a fixture, which names what another handler changes`()
        async throws
    {
        let conflict = try #require(try JournaledConflict(shared: Self.shared))
        let recorded = try await ConflictFixture.recording(conflict, name: "one", forApp: true)
        let file = ConflictFixture.file(description: "Conflicts.", cases: [recorded])
        let path = FileManager.default.temporaryDirectory.appending(path: "\(UUID()).json").path
        let isWritten = FileManager.default.createFile(
            atPath: path, contents: Data(file.extendedJSON(.canonical).utf8))
        #expect(isWritten)
        let same = try await compareConflicts(in: path, handler: .remoteWins)
        #expect(same.map(\.description) == ["one: same"])
        let other = try await compareConflicts(in: path, handler: .localWins)
        #expect(other.first?.isSame == false)
        #expect(other.first?.fields.contains("a") == true, "\(other)")
        try FileManager.default.removeItem(atPath: path)
    }

    @Test func `a conflict of which a role hid an edition is no fixture`() throws {
        var hidden = Self.shared
        hidden.append("hidden", ["remote"])
        #expect(try JournaledConflict(shared: hidden) == nil)
    }

    /// The snippets of `Docs/FIXTURES.md` and `Docs/SYNC.md`, so that they are compiled.
    private func pages(
        _ todos: SyncCollection<BSONDocument>, _ handler: ConflictHandler<BSONDocument>
    ) async throws {
        await todos.configure(
            conflictHandler: handler,
            sharesConflicts: .redacting(["owner.name", "phone"], appVersion: "2.1"))
        let compared = try await compareConflicts(in: "fixtures/fleet.json", handler: handler)
        let changed = compared.filter { !$0.isSame }
        let story = try await todos.history(of: 1).map(\.description)
        _ = (changed, story)
    }
}
