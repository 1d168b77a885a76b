import BSONStore
import Testing

/// Without these a collection's calls would not do what MongoDB's do.
@Suite struct CollectionTests {
    private static func people() throws -> DocumentCollection<BSONDocument> {
        let people = try DocumentStore(at: .inMemory).collection(Namespace("app", "people"))
        try people.insertMany([
            ["_id": 1, "name": "Ada", "age": 36, "tags": ["x", "y"]],
            ["_id": 2, "name": "Bob", "age": 20, "tags": ["y"]],
            ["_id": 3, "name": "Cy", "age": 36],
            ["_id": 4, "name": "Dee", "address": ["city": "Ulm", "zip": "1"]],
        ])
        return people
    }

    private static func ids(_ documents: [BSONDocument]) -> [Int64] {
        documents.compactMap { $0["_id"]?.int64Value }
    }

    @Test func `find filters, sorts, skips and limits`() throws {
        let people = try Self.people()
        #expect(Self.ids(try people.find(["age": 36]).fetch()) == [1, 3])
        #expect(Self.ids(try people.find(["_id": ["$in": [3, 1, 9, 3.0]]]).fetch()) == [1, 3])
        #expect(Self.ids(try people.find(["_id": ["$gt": 1, "$lte": 3]]).fetch()) == [2, 3])
        #expect(Self.ids(try people.find(["_id": 2, "age": 36]).fetch()) == [])
        let byAge = people.find().sort(["age": -1, "_id": -1])
        #expect(Self.ids(try byAge.fetch()) == [3, 1, 2, 4])
        let page = people.find().sort(["age": 1, "name": 1]).skip(1).limit(2)
        #expect(Self.ids(try page.fetch()) == [2, 1])
        let last = people.find().sort(["_id": -1]).limit(2)
        #expect(Self.ids(try last.fetch()) == [4, 3])
        #expect(Self.ids(try people.find().skip(3).fetch()) == [4])
        #expect(Self.ids(try people.find().skip(1).limit(2).fetch()) == [2, 3])
        #expect(try people.find(["name": "Bob"]).first()?["_id"] == 2)
        #expect(try people.find(["tags": "y"]).count() == 2)
        #expect(try people.find().count() == 4)
    }

    @Test func `sort takes the least of an array going up and the greatest going down`() throws {
        let numbers = try DocumentStore(at: .inMemory).collection(Namespace("app", "numbers"))
        try numbers.insertMany([
            ["_id": 1, "a": [2, 8]], ["_id": 2, "a": 5], ["_id": 3], ["_id": 4, "a": []],
            ["_id": 5, "a": "x"], ["_id": 6, "a": [["b": 1], 9]],
        ])
        let up = try numbers.find().sort(["a": 1]).fetch()
        #expect(Self.ids(up) == [4, 3, 1, 2, 6, 5])
        let down = try numbers.find().sort(["a": -1]).fetch()
        #expect(Self.ids(down) == [6, 5, 1, 2, 3, 4])
    }

    @Test(arguments: [
        (#"{"name":1}"#, #"{"_id":4,"name":"Dee"}"#),
        (#"{"name":1,"_id":0}"#, #"{"name":"Dee"}"#),
        (#"{"name":0}"#, #"{"_id":4,"address":{"city":"Ulm","zip":"1"}}"#),
        (#"{"address.city":1,"_id":0}"#, #"{"address":{"city":"Ulm"}}"#),
        (#"{"address":{"zip":0}}"#, #"{"_id":4,"name":"Dee","address":{"city":"Ulm"}}"#),
        (#"{"_id":1}"#, #"{"_id":4}"#),
        (#"{"_id":0}"#, #"{"name":"Dee","address":{"city":"Ulm","zip":"1"}}"#),
    ])
    func `a projection chooses fields`(_ projection: String, _ expected: String) throws {
        let people = try Self.people()
        let fields = try BSONDocument(extendedJSON: projection)
        let found = try people.find(["_id": 4]).project(fields).first()
        #expect(found == (try BSONDocument(extendedJSON: expected)))
    }

    @Test(arguments: [
        (#"{"a":1,"b":0}"#, 31254, "Cannot do exclusion on field b in inclusion projection"),
        (#"{"a":0,"b":1}"#, 31253, "Cannot do inclusion on field b in exclusion projection"),
        (#"{"a":1,"a.b":1}"#, 31249, "Path collision at a.b remaining portion b"),
        (#"{"a.b":1,"a":1}"#, 31250, "Path collision at a"),
    ])
    func `a projection that contradicts itself is refused`(
        _ projection: String, _ code: Int32, _ message: String
    ) throws {
        let document = try BSONDocument(extendedJSON: projection)
        let error = #expect(throws: StoreError.self) { try Projection(document) }
        #expect(error?.code.rawValue == code)
        #expect(error?.message == message)
    }

    @Test func `distinct unwinds arrays`() throws {
        let people = try Self.people()
        #expect(try people.find().distinct("tags") == ["x", "y"])
        #expect(try people.find(["name": ["$ne": "Bob"]]).distinct("age") == [36])
        #expect(try people.find().distinct("address.city") == ["Ulm"])
    }

    @Test func `updates count what they matched and what they changed`() throws {
        let people = try Self.people()
        let one = try people.updateOne(["age": 36], ["$inc": ["age": 1]])
        #expect(one.matchedCount == 1 && one.modifiedCount == 1)
        #expect(one.images.first?.before?["age"] == 36 && one.images.first?.after?["age"] == 37)
        let many = try people.updateMany([:], ["$set": ["age": 20]])
        #expect(many.matchedCount == 4 && many.modifiedCount == 3)
        let none = try people.updateOne(["_id": 9], ["$set": ["a": 1]])
        #expect(none.matchedCount == 0 && none.upsertedID == nil)
        let upserted = try people.updateOne(["_id": 9], ["$set": ["a": 1]], upsert: true)
        #expect(upserted.upsertedID == 9)
        #expect(try people.findOne(id: 9) == ["_id": 9, "a": 1])
        let replaced = try people.replaceOne(["_id": 9], ["b": 2])
        #expect(replaced.modifiedCount == 1)
        #expect(try people.findOne(id: 9) == ["_id": 9, "b": 2])
        let same = try people.replaceOne(["_id": 9], ["b": 2])
        #expect(same.matchedCount == 1 && same.modifiedCount == 0)
    }

    @Test func `an update of many that fails changes none within a transaction`() throws {
        let people = try Self.people()
        try people.updateOne(["_id": 3], ["$set": ["age": "old"]])
        let error = #expect(throws: StoreError.self) {
            try people.store.write {
                try $0.updateMany(
                    people.namespace, filter: .all, update: Update(["$inc": ["age": 1]]))
            }
        }
        #expect(error?.code == .typeMismatch)
        #expect(try people.findOne(id: 1)?["age"] == 36)
    }

    @Test func `operators and replacements are not mixed up`() throws {
        let people = try Self.people()
        #expect(throws: StoreError.self) { try people.updateOne([:], ["a": 1]) }
        #expect(throws: StoreError.self) { try people.updateMany([:], ["a": 1]) }
        #expect(throws: StoreError.self) { try people.replaceOne([:], ["$set": ["a": 1]]) }
        #expect(throws: StoreError.self) { try people.updateOne([:], [:]) }
        #expect(try people.find(["a": 1]).count() == 0)
    }

    @Test func `deletes count`() throws {
        let people = try Self.people()
        #expect(try people.deleteOne(["age": 36]) == 1)
        #expect(try people.deleteMany(["_id": ["$gte": 3]]) == 2)
        #expect(try people.deleteMany(["_id": 99]) == 0)
        #expect(Self.ids(try people.find().fetch()) == [2])
    }

    @Test func `find and change returns before or after`() throws {
        let people = try Self.people()
        let before = try people.findOneAndUpdate(
            ["age": 36], ["$set": ["age": 1]],
            options: .init(sort: try SortOrder(["name": -1])))
        #expect(before?["_id"] == 3 && before?["age"] == 36)
        let after = try people.findOneAndUpdate(
            ["_id": 3], ["$inc": ["age": 1]], options: .init(returnsAfter: true))
        #expect(after?["age"] == 2)
        let same = try people.findOneAndUpdate(["_id": 3], ["$set": ["age": 2]])
        #expect(same?["age"] == 2)
        let made = try people.findOneAndReplace(
            ["_id": 7], ["a": 1], options: .init(upsert: true, returnsAfter: true))
        #expect(made == ["_id": 7, "a": 1])
        let gone = try people.findOneAndDelete(
            [:], options: .init(projection: try Projection(["name": 1])))
        #expect(gone == ["_id": 1, "name": "Ada"])
        #expect(try people.findOneAndDelete(["_id": 1]) == nil)
    }

    /// Drivers have no such option there; ignored, it would hide a mistake.
    @Test func `a replacement and a delete refuse array filters`() throws {
        let people = try Self.people()
        let options = FindOneAndOptions(arrayFilters: [["low": 1]])
        let replaced = #expect(throws: StoreError.self) {
            try people.findOneAndReplace(["_id": 1], ["a": 1], options: options)
        }
        let deleted = #expect(throws: StoreError.self) {
            try people.findOneAndDelete(["_id": 1], options: options)
        }
        #expect(replaced?.code == .failedToParse && deleted?.code == .failedToParse)
        #expect(try people.findOne(id: 1)?["age"] == 36)
    }

    /// A driver refuses them as well: they would change the document instead.
    @Test func `operators are no replacement`() throws {
        let people = try Self.people()
        let error = #expect(throws: StoreError.self) {
            try people.findOneAndReplace(["_id": 1], ["$set": ["age": 1]])
        }
        #expect(error?.code == .badValue)
        #expect(try people.findOne(id: 1)?["age"] == 36)
    }

    @Test(arguments: [(1, Int.max), (Int.max, 1), (0, Int.max), (1, Int.max / 2 + 1)])
    func `a sort with any skip and limit ends`(_ skip: Int, _ limit: Int) throws {
        let people = try Self.people()
        let query = people.find().sort(["age": -1, "_id": 1]).skip(skip).limit(limit)
        let wanted: [Int64] = [1, 3, 2, 4]
        #expect(Self.ids(try query.fetch()) == Array(wanted.dropFirst(skip)))
        let sorted = try people.aggregate([
            ["$sort": ["age": -1, "_id": 1]], ["$limit": .int64(Int64(limit))],
        ])
        #expect(Self.ids(sorted) == Array(wanted.prefix(limit)))
    }

    @Test func `the async forms do the same`() async throws {
        let directory = try TemporaryDirectory()
        let store = try DocumentStore(at: .file(directory.file()))
        let people = store.collection(Namespace("app", "people"))
        try await people.insertMany([["_id": 1, "n": 0], ["_id": 2]])
        await withThrowingTaskGroup(of: Void.self) { group in
            for _ in 0..<100 {
                group.addTask { try await people.updateOne(["_id": 1], ["$inc": ["n": 1]]) }
            }
        }
        #expect(try people.findOne(id: 1)?["n"] == 100)
        await #expect(throws: StoreError.self) { try await people.insertOne(["_id": 1]) }
        #expect(try await people.deleteMany([:]) == 2)
    }
}
