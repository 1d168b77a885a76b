import BSONStore
import Testing

@testable import StitchSync

/// Any name that BSON can hold reaches the remote and comes back, also those that MongoDB's update
/// operators cannot name.
@Suite(.remotes)
struct NameScenarios {
    private static let names = [
        "$x", "$set", "$", "a.b", ".", "a.", ".a", "$a.b", "", " ", "é", "e\u{301}", "0",
    ]

    private static func document(_ name: String, _ value: BSONValue) -> BSONDocument {
        var document: BSONDocument = ["_id": "k", "plain": 1]
        document.append(name, value)
        return document
    }

    @Test("a field of any name is added, changed and removed, up and down", arguments: names)
    private func everyForm(name: String) async throws {
        let world = try SyncWorld()
        let (a, b) = (try await world.device("A"), try await world.device("B"))
        try await b.items.sync(ids: ["k"])
        func expectEverywhere(_ expected: BSONDocument) async throws {
            try await a.engine.syncUntilQuiet()
            try await b.engine.syncUntilQuiet()
            #expect(try world.remoteDocument("k") == expected)
            #expect(try await a.local("k") == expected)
            #expect(try await b.local("k") == expected)
            #expect(try await a.items.status() == SyncStatus(synced: 1))
        }
        // Inserted with it.
        try await a.insert(Self.document(name, 1))
        try await expectEverywhere(Self.document(name, 1))
        // Changed by each side.
        try await a.items.modify(id: "k") { $0 = Self.document(name, "new") }
        try await expectEverywhere(Self.document(name, "new"))
        try await b.items.modify(id: "k") { $0 = Self.document(name, ["x": 2]) }
        try await b.engine.syncUntilQuiet()
        try await expectEverywhere(Self.document(name, ["x": 2]))
        // Changed by another program.
        try world.foreign("k") { document in
            document = Self.document(name, 3)
        }
        try await expectEverywhere(Self.document(name, 3))
        // Removed and added.
        try await a.items.modify(id: "k") { $0 = ["_id": "k", "plain": 2] }
        try await expectEverywhere(["_id": "k", "plain": 2])
        var added: BSONDocument = ["_id": "k", "plain": 2]
        added.append(name, true)
        let last = added
        try await a.items.modify(id: "k") { $0 = last }
        try await expectEverywhere(last)
        // Inside others.
        let named = BSONDocument([(name, BSONValue.int32(1))])
        let inside: BSONDocument = ["_id": "k", "n": .document(named)]
        try await a.items.modify(id: "k") { $0 = inside }
        try await expectEverywhere(inside)
        let list = BSONValue.array(BSONArray([.document(named)]))
        let deeper: BSONDocument = ["_id": "k", "n": .document(BSONDocument([(name, list)]))]
        try await a.items.modify(id: "k") { $0 = deeper }
        try await expectEverywhere(deeper)
        try await a.delete("k")
        try await a.engine.syncUntilQuiet()
        #expect(try world.remoteDocument("k") == nil)
    }
}
