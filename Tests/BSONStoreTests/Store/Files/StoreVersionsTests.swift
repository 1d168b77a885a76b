#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif
import Testing

@testable import BSONCore
@testable import BSONStore

/// Files of every earlier version open, hold what they held, and take what is new.
struct StoreVersionsTests {
    private static let people = Namespace("shop", "people")

    private static let root = URL(filePath: #filePath)
        .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent()
        .deletingLastPathComponent()

    /// A copy of the kept file of a version.
    private func file(_ version: Int, in directory: TemporaryDirectory) throws -> String {
        let kept = Self.root.appending(path: "fixtures/stores/version-\(version).db").path
        try FileManager.default.copyItem(atPath: kept, toPath: directory.file())
        return directory.file()
    }

    private static let documents: [BSONDocument] = [
        ["_id": 1, "name": "ann", "tags": ["a", "b"]], ["_id": 2, "name": "ben", "tags": []],
    ]

    @Test("a file of version 1 is brought up to date when it is opened for writing")
    func versionOne() throws {
        let directory = try TemporaryDirectory()
        let store = try DocumentStore(at: .file(try file(1, in: directory)))
        let people = store.collection(Self.people)
        #expect(try Array(people.find().fetch().prefix(2)) == Self.documents)
        try people.createIndex(["tags": 1])
        #expect(try people.find(["tags": "b"]).fetch() == [Self.documents[0]])
        #expect(
            try store.read { try $0.connection.int64("PRAGMA user_version") }
                == StoreSchema.version)
    }

    @Test("a file of version 2 is brought up to date, and its history goes on")
    func versionTwo() throws {
        let directory = try TemporaryDirectory()
        let store = try DocumentStore(at: .file(try file(2, in: directory)))
        let people = store.collection(Self.people)
        #expect(try Array(people.find().fetch().prefix(2)) == Self.documents)
        #expect(try people.listIndexes().map(\.name) == ["_id_", "name_1"])
        let position = try store.changePosition
        try people.createIndex(["tags": 1])
        try people.insertOne(["_id": 3])
        #expect(try store.changes(after: position).changes.map(\.documentID) == [3])
        #expect(
            try store.read { try $0.connection.int64("PRAGMA user_version") }
                == StoreSchema.version)
        let told = try store.read { try $0.definitionChanges(after: 0, through: 100, limit: 9) }
        #expect(told.map(\.kind) == [.createIndex])
    }

    @Test("a file of version 7 computes the keys of its collated indexes anew")
    func versionSeven() throws {
        let directory = try TemporaryDirectory()
        let first = try DocumentStore(at: .file(directory.file()))
        let german: BSONDocument = ["locale": "de"]
        let (words, plain) = (
            first.collection(Namespace("shop", "words")),
            first.collection(Namespace("shop", "plain"))
        )
        try words.createIndex(["n": 1], ["collation": .document(german)])
        try plain.createIndex(["n": 1])
        for collection in [words, plain] {
            try collection.insertMany([["_id": 1, "n": "straße"], ["_id": 2, "n": ["a", "b"]]])
        }
        // As version 7 left it: with other keys in the collated index.
        try first.write { transaction in
            let connection = transaction.connection
            try connection.executeOnce("UPDATE index_1 SET key = key || x'01'")
            try connection.executeOnce("PRAGMA user_version = 7")
        }
        first.close()
        let store = try DocumentStore(at: .file(directory.file()))
        #expect(try store.verify().isSound)
        let filter = try Filter(
            ["n": "straße"], options: FilterOptions(collation: try Collation(german)))
        let found = try store.read { transaction in
            try transaction.find(
                words.namespace, filter: filter,
                options: try FindOptions(hint: .keyPattern(["n": 1])))
        }
        #expect(found.map { $0["_id"] } == [1])
        #expect(try store.collection(words.namespace).deleteMany([:]) == 2)
        #expect(
            try store.read { try $0.connection.int64("SELECT count(*) FROM index_1") } == 0)
    }

    @Test("a file of version 3 keeps the images of its changes, whole, beside later ones")
    func versionThree() throws {
        let directory = try TemporaryDirectory()
        let store = try DocumentStore(at: .file(try file(3, in: directory)))
        let items = store.collection(Namespace("bench", "items"))
        let earlier = try store.changes(after: 0).changes
        #expect(
            earlier.map(\.kind) == Array(repeating: .insert, count: 6)
                + Array(repeating: .update, count: 6))
        for (insert, update) in zip(earlier, earlier.dropFirst(6)) {
            #expect(update.before == insert.after && update.after?["newField"] == "r1")
        }
        try items.updateMany([:], ["$set": ["newField": "r2"]])
        let later = try store.changes(after: 12).changes
        #expect(later.map(\.before) == earlier.suffix(6).map(\.after))
        #expect(try store.verify().isSound)
        let stored = try store.read { transaction in
            try transaction.connection.int64(
                "SELECT sum(length(before)) FROM store_changes WHERE position > 12")
        }
        #expect(stored.map { $0 < 6 * 20 } == true)
    }

    @Test("a file of version 4 keeps its changes, which are read beside later ones")
    func versionFour() throws {
        let directory = try TemporaryDirectory()
        let path = try file(4, in: directory)
        let asItIs = try DocumentStore(at: .file(path), options: .init(readOnly: true))
        let earlier = try asItIs.changes(after: 0).changes
        #expect(earlier.map(\.kind) == [.insert, .insert, .insert, .update, .update, .delete])
        #expect(earlier.map { $0.before?["name"] } == [nil, nil, nil, "cid", "dan", "eve"])
        #expect(earlier.map { $0.after?["name"] } == ["ann", "ben", "cid", "dan", "eve", nil])
        #expect(try asItIs.verify().isSound)
        asItIs.close()
        let store = try DocumentStore(at: .file(path))
        #expect(try store.changes(after: 0).changes == earlier)
        let people = store.collection(Self.people)
        try people.updateOne(["_id": 1], ["$set": ["name": "amy"]])
        try people.updateOne(["_id": 1], ["$set": ["name": "ada"]])
        try people.deleteOne(["_id": 2])
        let later = try store.changes(after: 6).changes
        let buried = try store.read { try $0.tombstones(Self.people, ids: [1, 2]) }
        #expect(buried.map { $0?.documentID } == [nil, 2])
        #expect(later.map { $0.before?["name"] } == ["ann", "amy", "ben"])
        #expect(later.map { $0.after?["name"] } == ["amy", "ada", nil])
        #expect(try store.changes(after: 0).changes == earlier + later)
        try store.write { _ = try $0.dropCollection(Self.people) }
        #expect(try Array(store.changes(after: 0).changes.prefix(9)) == earlier + later)
        #expect(try store.verify().isSound)
    }

    @Test("a file of version 1 that is opened for reading is left as it is")
    func versionOneReadOnly() throws {
        let directory = try TemporaryDirectory()
        let store = try DocumentStore(
            at: .file(try file(1, in: directory)), options: .init(readOnly: true))
        let people = store.collection(Self.people)
        #expect(try people.find(["name": "ben"]).fetch() == [Self.documents[1]])
        #expect(try store.read { try $0.tombstones(Self.people, ids: [9]) } == [nil])
        #expect(try people.listIndexes().map(\.name) == ["_id_"])
        #expect(try store.read { try $0.connection.int64("PRAGMA user_version") } == 1)
    }
}
