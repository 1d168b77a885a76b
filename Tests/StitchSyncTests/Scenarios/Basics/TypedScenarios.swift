import BSONStore
import StitchSyncTesting
import Testing

@testable import StitchSync

/// Documents of an app's type: what the type does not know stays, and what is none of it does not stop.
@Suite(.remotes)
struct TypedScenarios {
    private struct Note: Codable, Sendable, Equatable {
        var id: String
        var stars: Int32
        var remark: String?

        enum CodingKeys: String, CodingKey {
            case id = "_id"
            case stars, remark
        }
    }

    private func notes(
        _ world: SyncWorld, _ handler: ConflictHandler<Note>
    ) async throws -> SyncCollection<Note> {
        let engine = try SyncEngine(
            store: try DocumentStore(at: .inMemory), remote: world.remote)
        let notes = engine.collection(SyncWorld.namespace, of: Note.self)
        await notes.configure(conflictHandler: handler)
        return notes
    }

    @Test(
        "a merge whose fallback is one side needs no document of the type",
        arguments: [true, false])
    func fallbackWithoutDecoding(isRemote: Bool) async throws {
        let world = try SyncWorld()
        let notes = try await notes(
            world, .mergeFields(overlaps: isRemote ? .remoteWins : .localWins))
        try await notes.insertOne(Note(id: "k", stars: 1))
        try await notes.engine.syncNow()
        try world.foreign("k") { $0["stars"] = "many" }
        try await notes.updateOne(["_id": "k"], ["$set": ["stars": 2]])
        let report = try await notes.engine.syncUntilQuiet().report
        #expect(report.errors == [] && report.paused == 0)
        #expect(try world.remoteDocument("k")?["stars"] == (isRemote ? "many" : 2))
        #expect(try await notes.status() == SyncStatus(synced: 1))
    }

    @Test("a merge that the app completes keeps fields that the type does not know, of both sides")
    func decidedMerge() async throws {
        let world = try SyncWorld()
        let notes = try await notes(
            world,
            .mergeFields { note, conflict in
                note.stars = max(conflict.local?.stars ?? 0, conflict.remote?.stars ?? 0)
            })
        try await notes.insertOne(Note(id: "k", stars: 1))
        try await notes.engine.syncNow()
        try world.foreign("k") { ($0["stars"], $0["theirs"]) = (3, 1) }
        try await notes.updateOne(["_id": "k"], ["$set": ["stars": 2, "mine": 1]])
        let report = try await notes.engine.syncUntilQuiet().report
        #expect(report.errors == [] && report.conflicts == 1)
        let merged: BSONDocument = ["_id": "k", "stars": 3, "theirs": 1, "mine": 1]
        #expect(try world.remoteDocument("k")?.contentEquals(merged) == true)
        #expect(try await notes.status() == SyncStatus(synced: 1))
    }

    @Test("a document is read, changed and stored in one step")
    func modified() async throws {
        struct Refused: Error {}
        let world = try SyncWorld()
        let notes = try await notes(world, .remoteWins)
        try await notes.insertOne(Note(id: "k", stars: 1))
        try await notes.engine.syncNow()
        try world.foreign("k") { $0["theirs"] = 1 }
        try await notes.engine.syncUntilQuiet()
        // Each of these reads what the one before has stored.
        try await withThrowingTaskGroup(of: Void.self) { group in
            for _ in 0..<20 {
                group.addTask { _ = try await notes.modify(id: "k") { $0.stars += 1 } }
            }
            try await group.waitForAll()
        }
        #expect(try await notes.pendingIDs == ["k"])
        try await notes.engine.syncUntilQuiet()
        let stored: BSONDocument = ["_id": "k", "stars": 21, "theirs": 1]
        #expect(try world.remoteDocument("k")?.contentEquals(stored) == true)
        #expect(try await notes.modify(id: "k") { _ in } == Note(id: "k", stars: 21))
        #expect(try await notes.pendingIDs.isEmpty)
        #expect(try await notes.modify(id: "none") { $0.stars = 0 } == nil)
        await #expect(throws: Refused.self) {
            try await notes.modify(id: "k") { note in
                note.stars = 0
                throw Refused()
            }
        }
        let otherID = await #expect(throws: StoreError.self) {
            try await notes.modify(id: "k") { $0.id = "l" }
        }
        #expect(otherID?.code == .immutableField)
        #expect(try notes.findOne(id: "k")?.stars == 21)
        #expect(try await notes.pendingIDs.isEmpty)
    }

    @Test("a field that the type knows can be cleared, those it does not know stay, by every write")
    func clearedAndKept() async throws {
        let world = try SyncWorld()
        let notes = try await notes(world, .remoteWins)
        try await notes.insertOne(Note(id: "k", stars: 1, remark: "first"))
        try await notes.engine.syncNow()
        try world.foreign("k") { $0["theirs"] = ["deep": 1] }
        try await notes.engine.syncUntilQuiet()
        try await notes.replaceOne(["_id": "k"], Note(id: "k", stars: 2))
        try await notes.engine.syncUntilQuiet()
        #expect(
            try world.remoteDocument("k")?.contentEquals(
                ["_id": "k", "stars": 2, "theirs": ["deep": 1]]) == true)
        let before = try await notes.findOneAndReplace(
            ["_id": "k"], Note(id: "k", stars: 3, remark: "third"))
        #expect(before == Note(id: "k", stars: 2))
        try await notes.engine.syncUntilQuiet()
        #expect(
            try world.remoteDocument("k")?.contentEquals(
                ["_id": "k", "stars": 3, "theirs": ["deep": 1], "remark": "third"]) == true)
    }

    @Test("an edit of a value that was read before other edits arrived keeps them")
    func editedLater() async throws {
        let world = try SyncWorld()
        let notes = try await notes(world, .remoteWins)
        try await notes.insertOne(Note(id: "k", stars: 1, remark: "first"))
        try await notes.engine.syncUntilQuiet()
        let read = try #require(try notes.findOne(id: "k"))
        try world.foreign("k") { ($0["stars"], $0["theirs"]) = (9, 1) }
        try await notes.engine.syncUntilQuiet()
        try await notes.replaceOne(
            ["_id": "k"], Note(id: "k", stars: 1, remark: "mine"), from: read)
        #expect(try notes.findOne(id: "k") == Note(id: "k", stars: 9, remark: "mine"))
        let report = try await notes.engine.syncUntilQuiet().report
        #expect(report.conflicts == 0)
        #expect(
            try world.remoteDocument("k")?.contentEquals(
                ["_id": "k", "stars": 9, "remark": "mine", "theirs": 1]) == true)
        // What did not change stores nothing; a document that is gone is inserted if that is asked.
        try await notes.replaceOne(["_id": "k"], read, from: read)
        #expect(try await notes.status() == SyncStatus(synced: 1))
        let missing = Note(id: "l", stars: 1)
        #expect(try await notes.replaceOne(["_id": "l"], missing, from: read).matchedCount == 0)
        try await notes.replaceOne(["_id": "l"], missing, from: read, upsert: true)
        #expect(try notes.findOne(id: "l") == missing)
    }

    @Test("an edit of an older raw document writes only what it changed")
    func rawEditedLater() async throws {
        let world = try SyncWorld()
        let a = try await world.device("A")
        try await a.items.insertOne(["_id": "k", "x": 1, "y": 1, "in": ["a": 1, "b": 1]])
        try await a.sync()
        let read = try #require(try a.items.findOne(id: "k"))
        try world.foreign("k") {
            $0["x"] = 2
            $0["in"] = ["a": 2, "b": 1, "c": 3]
        }
        try await a.sync()
        var edited = read
        edited["y"] = nil
        edited["in"] = ["a": 1, "b": 5]
        try await a.items.replaceOne(["_id": "k"], edited, from: read)
        try await a.sync()
        #expect(
            try a.items.findOne(id: "k") == ["_id": "k", "x": 2, "in": ["a": 2, "b": 5, "c": 3]])
    }

    @Test("no read and no write shows the version field, or lets it be written")
    func versionIsHidden() async throws {
        let world = try SyncWorld()
        let a = try await world.device("A")
        let field = DocumentVersion.fieldName
        let forged: BSONDocument = ["spv": 1, "id": "mine", "v": .int64(77)]
        try await a.items.insertOne([
            "_id": "k", "x": 1, "__stitch_sync_version": .document(forged),
        ])
        try await a.sync()
        let lineage = try world.remoteVersion("k")?.version?.lineage
        #expect(lineage != nil && lineage != "mine")
        var options = FindOneAndOptions()
        options.returnsAfter = true
        let after = try await a.items.findOneAndUpdate(
            ["_id": "k"], ["$set": ["x": 2, "__stitch_sync_version": .document(forged)]],
            options: options)
        #expect(after == ["_id": "k", "x": 2])
        let replaced = try await a.items.findOneAndReplace(
            ["_id": "k"], ["_id": "k", "x": 3, "__stitch_sync_version": .document(forged)],
            options: options)
        #expect(replaced == ["_id": "k", "x": 3])
        try await a.items.find(["_id": "k"]).update(
            pipeline: [["$set": ["x": 4, "__stitch_sync_version": .document(forged)]]])
        let bulk = try await a.items.bulkWrite([
            .updateOne(["_id": "k"], ["$rename": ["x": "__stitch_sync_version"]]),
            .updateOne(["_id": "k"], ["$set": ["y": 1]]),
            .replaceOne(
                ["_id": "l"], ["y": 2, "__stitch_sync_version": .document(forged)],
                options: .init(upsert: true)),
        ])
        #expect(bulk.errors.isEmpty)
        try await a.sync()
        let all: [BSONDocument] = [["_id": "k", "y": 1], ["_id": "l", "y": 2]]
        #expect(try a.items.find().sort(["_id": 1]).fetch() == all)
        #expect(try a.items.aggregate([["$sort": ["_id": 1]]]) == all)
        #expect(try a.items.find().distinct(field) == [])
        #expect(try a.items.find().distinct(field + ".id") == [])
        #expect(try a.items.find([field: ["$exists": true]]).count() == 0)
        #expect(
            try a.items.aggregate([
                ["$group": ["_id": .null, "n": ["$sum": "$__stitch_sync_version.v"]]]
            ]) == [["_id": .null, "n": 0]])
        #expect(try await a.items.confirmedDocument(id: "k") == ["_id": "k", "y": 1])
        #expect(try world.remoteVersion("k")?.version?.lineage == lineage)
        #expect(try await a.engine.verify().isEmpty)
    }
}
