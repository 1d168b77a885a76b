import BSONStore
import StitchSync
import Testing

@testable import StitchCommands

/// An event that the projection refuses would stop its collection's sync on all devices.
struct MongoChangeProjectionTests {
    /// Where the version field's name has its last byte, some have the middle of a letter.
    @Test(arguments: ["наименование", "aaaaaaaaaaaaaaaaaaaa数量", "x", "a__stitch_sync_version"])
    func `of the updated fields the version's are left, whatever the others are named`(
        name: String
    ) throws {
        let store = try DocumentStore(at: .inMemory)
        let events = store.collection(Namespace("db", "events"))
        let updated: BSONDocument = [name: 1, "__stitch_sync_version.v": 2]
        try events.insertOne([
            "_id": 1, "updateDescription": ["updatedFields": .document(updated)],
        ])
        let stage: BSONDocument = ["$project": .document(MongoChangeStream.projection)]
        let found = try events.aggregate([stage]).first?[MongoChange.versionFields]?.arrayValue
        #expect(found?.values == [["k": "__stitch_sync_version.v", "v": 2]])
    }

    /// A document that its writer's operation names, though the change is another tool's, is no sign of
    /// the operation.
    @Test(arguments: [false, true]) func `a brief event has the document, and who wrote it`(
        wroteVersion: Bool
    ) throws {
        let name = OperationID(instance: 7, sequence: 2)
        let document: BSONDocument = [
            "_id": 1, "n": 2,
            "__stitch_sync_version": .document(DocumentVersion.first(operation: name).document),
        ]
        let change = try #require(
            try MongoChange.read([
                "_id": ["_data": "82"], "operationType": "update", "documentKey": ["_id": 1],
                "fullDocument": .document(document), "wroteVersion": .bool(wroteVersion),
            ]))
        #expect(change.operation == (wroteVersion ? name : nil))
        #expect(change.content == document && !change.wroteVersion)
        #expect(change.version == VersionField(of: document))
    }
}
