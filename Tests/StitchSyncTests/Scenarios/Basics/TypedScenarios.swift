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
        try await a.items.updateOne(
            ["_id": "k"],
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
        #expect(try await a.items.find(options: FindOptions(sort: SortOrder(["_id": 1]))) == all)
        #expect(try await a.items.aggregate([["$sort": ["_id": 1]]]) == all)
        #expect(try await a.items.distinct(field) == [])
        #expect(try await a.items.distinct(field + ".id") == [])
        #expect(try await a.items.count([field: ["$exists": true]]) == 0)
        #expect(
            try await a.items.aggregate([
                ["$group": ["_id": .null, "n": ["$sum": "$__stitch_sync_version.v"]]]
            ]) == [["_id": .null, "n": 0]])
        #expect(try await a.items.confirmedDocument(id: "k") == ["_id": "k", "y": 1])
        #expect(try world.remoteVersion("k")?.version?.lineage == lineage)
        #expect(try await a.engine.verify().isEmpty)
    }
}
