import Testing

@testable import BSONCore
@testable import BSONStore

/// Without these times would not be those of the change, and documents could grow without bound.
@Suite struct UpdateTimeTests {
    private func apply(
        _ update: BSONDocument, to document: BSONDocument = ["_id": 1]
    ) throws -> BSONDocument {
        try Update(update).apply(to: document) ?? document
    }

    @Test(arguments: [true, false, ["$type": "date"]] as [BSONValue])
    func `the current date is the time`(_ operand: BSONValue) throws {
        let before = WallClock.now
        let after = try apply(["$currentDate": ["a.b": operand]])
        guard case .datetime(let time) = after[path: "a.b"] else {
            Issue.record("\(after) has no date")
            return
        }
        #expect(time >= before)
        #expect(time <= WallClock.now)
    }

    /// MongoDB manual, "Aggregation Variables", "NOW": the same for all stages and documents.
    @Test func `all documents of a query and all writes of a bulk have one time`() throws {
        let things = try DocumentStore(at: .inMemory).collection(Namespace("app", "things"))
        let count = 20_000
        try things.insertMany((0..<count).map { ["_id": .int32(Int32($0))] })
        let shown: [BSONDocument] = try things.find().project(["now": "$$NOW"]).fetch()
        #expect(shown.count == count && Set(shown.compactMap { $0["now"] }).count == 1)
        let projection = try Projection(
            ["now": "$$t"], variables: ["t": "$$NOW"], collation: nil)
        let found = try things.store.read {
            try $0.find(things.namespace, options: FindOptions(projection: projection))
        }
        #expect(Set(found.compactMap { $0["now"] }).count == 1)
        let stages: BSONValue = [["$set": ["at": "$$NOW"]]]
        try things.bulkWrite((0..<2_000).map { .updateOne(["_id": .int32($0)], stages) })
        #expect(try things.find().distinct("at").count == 1)
    }

    @Test func `timestamps of the current date are each greater than the one before`() throws {
        let update: BSONDocument = ["$currentDate": ["a": ["$type": "timestamp"]]]
        let times = try (0..<3).map { _ in try apply(update)["a"] }
        for (earlier, later) in zip(times, times.dropFirst()) {
            guard case .timestamp(let first) = earlier, case .timestamp(let second) = later else {
                Issue.record("\(times) are no timestamps")
                return
            }
            #expect(first < second)
        }
    }

    @Test func `a replacement's empty timestamps become the time, but for nested ones`() throws {
        let empty = BSONValue.timestamp(BSONTimestamp(seconds: 0, increment: 0))
        let after = try apply(["a": empty, "b": ["c": empty], "d": [empty]])
        guard case .timestamp(let time) = after["a"] else {
            Issue.record("\(after) has no timestamp")
            return
        }
        #expect(time.seconds > 0)
        #expect(after[path: "b.c"] == empty)
        #expect(after[path: "d.0"] == empty)
    }

    @Test func `empty timestamps of new documents become the time, but for the _id's`() throws {
        let empty = BSONValue.timestamp(BSONTimestamp(seconds: 0, increment: 0))
        let items = try DocumentStore(at: .inMemory).collection(Namespace("shop", "items"))
        let fields: BSONDocument = ["a": empty, "b": ["c": empty]]
        try items.insertOne(fields)
        try items.insertMany([fields])
        try items.bulkWrite([.insertOne(fields)])
        try items.insertOne(["_id": empty, "a": 1])
        #expect(try items.find(["a": empty]).count() == 0)
        #expect(try items.find(["a": ["$type": "timestamp"], "b.c": empty]).count() == 3)
        #expect(try items.find(["_id": empty]).count() == 1)
    }

    @Test func `a replacement keeps its empty timestamps where that is asked for`() throws {
        let empty = BSONValue.timestamp(BSONTimestamp(seconds: 0, increment: 0))
        var update = try Update(["a": empty])
        update.keepsEmptyTimestamps = true
        #expect(try update.apply(to: ["_id": 1]) == ["_id": 1, "a": empty])
        #expect(try update.insertion(for: Filter(["_id": 2])) == ["_id": 2, "a": empty])
    }

    @Test func `documents are nested at most 100 levels`() throws {
        let nested = { (count: Int) in
            (0..<count).reduce(1 as BSONValue) { value, _ in ["a": value] }
        }
        let path = Array(repeating: "a", count: 100).joined(separator: ".")
        #expect(try apply(["$set": [path: 1]])[path: path] == 1)
        let tooDeep: [BSONDocument] = [
            ["$set": [path + ".a": 1]], ["$set": ["b": nested(100)]],
            ["$push": ["b": nested(99)]], ["$addToSet": ["b": nested(99)]],
            ["$set": [path: [:]]],
        ]
        for update in tooDeep {
            let error = #expect(throws: StoreError.self) { try apply(update) }
            #expect(error?.code.rawValue == 15)
            #expect(error?.message == "Document exceeds maximum nesting depth of 100")
        }
        #expect(try apply(["$set": ["b": nested(99)]]).byteCount > 99)
    }

    @Test func `documents have at most 16 MiB`() throws {
        let text = BSONValue.string(String(repeating: "x", count: 16 * 1024 * 1024 - 40))
        let full = try apply(["$set": ["a": text]])
        let error = #expect(throws: StoreError.self) {
            try apply(["$set": ["b": .string(String(repeating: "x", count: 100))]], to: full)
        }
        #expect(error?.code.rawValue == 17419)
        #expect(error?.message == "Resulting document after update is larger than 16777216")
        let larger = #expect(throws: StoreError.self) { try apply(["$set": ["b": text]], to: full) }
        #expect(larger?.code == .documentTooLarge)
        let inserted = #expect(throws: StoreError.self) {
            try Update(["$set": ["a": text, "b": text]]).insertion(for: .all)
        }
        #expect(inserted?.code.rawValue == 17420)
    }
}
