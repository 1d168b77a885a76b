import BSONStore
import Foundation
import Testing

/// Without these a typed update would change another field, or write another type than the encoder.
@Suite struct TypedUpdateTests {
    private static let cases: [(json: String, update: TypedUpdate)] = {
        let order = Order.fields
        return [
            (#"{"$set": {"done": true}}"#, order.done.set(true)),
            (#"{"$set": {"note": "x"}}"#, order.note.set("x")),
            (#"{"$unset": {"note": ""}}"#, order.note.set(nil)),
            (#"{"$unset": {"note": ""}}"#, order.note.unset()),
            (#"{"$set": {"status": "sent"}}"#, order.status.set(.sent)),
            (#"{"$set": {"address.city": "Oslo"}}"#, order.address.city.set("Oslo")),
            (#"{"$setOnInsert": {"name": "new"}}"#, order.name.setOnInsert("new")),
            (#"{"$inc": {"complexity": 1}}"#, order.complexity.increment()),
            (#"{"$inc": {"complexity": -2}}"#, order.complexity.increment(by: -2)),
            (#"{"$inc": {"discount": 1}}"#, order.discount.increment()),
            (#"{"$inc": {"counters.seen": 1}}"#, order.counters["seen"].increment()),
            (#"{"$mul": {"rating": 2.0}}"#, order.rating.multiply(by: 2)),
            (#"{"$mul": {"discount": 2}}"#, order.discount.multiply(by: 2)),
            (#"{"$min": {"complexity": 3}}"#, order.complexity.min(3)),
            (#"{"$max": {"complexity": 3}}"#, order.complexity.max(3)),
            (#"{"$max": {"due": {"$date": "2023-11-14T22:13:20Z"}}}"#, order.due.max(Order.start)),
            (#"{"$min": {"discount": 3}}"#, order.discount.min(3)),
            (#"{"$currentDate": {"created": true}}"#, order.created.currentDate()),
            (#"{"$currentDate": {"due": true}}"#, order.due.currentDate()),
            (#"{"$push": {"tags": "x"}}"#, order.tags.push("x")),
            (
                #"{"$push": {"tags": {"$each": ["x", "y"]}}}"#,
                order.tags.push(contentsOf: ["x", "y"])
            ),
            (
                #"{"$push": {"tags": {"$each": ["x"], "$position": 0, "$slice": -3}}}"#,
                order.tags.push(contentsOf: ["x"], at: 0, keepingLast: 3)
            ),
            (#"{"$addToSet": {"tags": "x"}}"#, order.tags.addToSet("x")),
            (
                #"{"$addToSet": {"labels": {"$each": ["x", "y"]}}}"#,
                order.labels.addToSet(contentsOf: ["x", "y"])
            ),
            (#"{"$pull": {"tags": "x"}}"#, order.tags.pull("x")),
            (#"{"$pullAll": {"tags": ["x", "y"]}}"#, order.tags.pull(contentsOf: ["x", "y"])),
            (#"{"$pullAll": {"matrix": [[1]]}}"#, order.matrix.pull([1])),
            (#"{"$pull": {"scores": {"$lt": 3}}}"#, order.scores.pull { $0 < 3 }),
            (
                #"{"$pull": {"lines": {"count": {"$lt": 2}, "product": "ink"}}}"#,
                order.lines.pull { $0.count < 2 && $0.product == "ink" }
            ),
            (#"{"$pop": {"tags": -1}}"#, order.tags.popFirst()),
            (#"{"$pop": {"tags": 1}}"#, order.tags.popLast()),
            (#"{"$set": {"lines.$[].count": 0}}"#, order.lines.allElements.count.set(0)),
            (#"{"$set": {"lines.$.count": 0}}"#, order.lines.matchedElement.count.set(0)),
            (#"{"$set": {"lines.1.count": 0}}"#, order.lines[1].count.set(0)),
        ]
    }()

    @Test func `a typed update is its BSON`() throws {
        for (json, update) in Self.cases {
            let expected = try BSONDocument(extendedJSON: json)
            let text = try update.bson.extendedJSON(.relaxed)
            #expect(text == expected.extendedJSON(.relaxed))
        }
    }

    @Test func `a closure lists updates by operator`() throws {
        let due: Date? = nil
        let update = Order.update {
            $0.done.set(true)
            $0.complexity.increment()
            $0.name.set("x")
            if let due { $0.due.set(due) }
            $0.tags.push("a")
            $0.tags.push("b")
            TypedUpdate.bson(["$rename": ["old": "new"]])
        }
        #expect(
            try update.bson == [
                "$set": ["done": true, "name": "x"], "$inc": ["complexity": .int64(1)],
                "$push": ["tags": ["$each": ["a", "b"]]], "$rename": ["old": "new"],
            ])
    }

    @Test func `an update changes the stored document`() async throws {
        let store = try DocumentStore(at: .inMemory)
        let orders = store.collection(Namespace("app", "orders"), of: Order.self)
        try await orders.insertMany(Order.samples)
        let result = try await orders.updateOne({ $0.id == 2 }) {
            $0.done.set(false)
            $0.complexity.increment(by: 2)
            $0.price.multiply(by: 2)
            $0.note.set(nil)
            $0.discount.max(9)
            $0.due.set(Order.start)
            $0.tags.push("new")
            $0.scores.pull { $0 > 5 }
            $0.counters["seen"].increment()
            $0.matrix.popFirst()
        }
        #expect(result.modifiedCount == 1)
        var expected = Order.samples[1]
        expected.done = false
        expected.complexity = 6
        expected.price = 39
        expected.note = nil
        expected.discount = 9
        expected.due = Order.start
        expected.tags = ["new"]
        expected.scores = []
        expected.counters = ["seen": 4]
        expected.matrix = [[3]]
        #expect(try orders.findOne(id: 2) == expected)
        #expect(try await orders.find { $0.done }.update { $0.done.set(false) }.modifiedCount == 1)
        try await orders.updateOne({ $0.lines.product == "pen" }) {
            $0.lines.matchedElement.count.set(0)
        }
        #expect(try orders.findOne(id: 1)?.lines.map(\.count) == [0, 1])
        try await orders.updateOne({ $0.id == 3 }) { $0.created.currentDate() }
        #expect(try #require(try orders.findOne(id: 3)).created > Order.start + 1_000)
    }

    @Test func `a pull of a document removes equal ones only`() async throws {
        let store = try DocumentStore(at: .inMemory)
        let orders = store.collection(Namespace("app", "orders"), of: Order.self)
        try await orders.insertMany(Order.samples)
        let line = Order.Line(product: "pen", price: 2, count: 10)
        try await orders.updateOne({ $0.id == 1 }) { $0.lines.pull(line) }
        #expect(try orders.findOne(id: 1)?.lines.count == 2)
        try await orders.updateOne({ $0.id == 1 }) { $0.lines.pull(Order.samples[0].lines[0]) }
        #expect(try orders.findOne(id: 1)?.lines.map(\.product) == ["ink"])
    }

    @Test func `an update without changes, and two of one field, are errors`() throws {
        let store = try DocumentStore(at: .inMemory)
        let orders = store.collection(Namespace("app", "orders"), of: Order.self)
        let never: Int? = nil
        let empty = #expect(throws: StoreError.self) {
            try orders.updateOne({ $0.id == 1 }) { if let never { $0.complexity.set(never) } }
        }
        #expect(empty?.code == .failedToParse)
        let twice = #expect(throws: StoreError.self) {
            try orders.updateOne({ $0.id == 1 }) {
                $0.complexity.set(1); $0.complexity.increment()
            }
        }
        #expect(twice?.code == .conflictingUpdateOperators)
        let alternatives = #expect(throws: StoreError.self) {
            try Order.update { $0.scores.pull { $0 < 1 || $0 > 5 } }.bson
        }
        #expect(alternatives?.code == .badValue)
        #expect(throws: StoreError.self) { try TypedUpdate.bson(["done": true]).bson }
    }

    @Test func `an absent optional is null where the encoder writes null`() throws {
        var encoder = BSONEncoder()
        encoder.strategies.nils = .encodeNull
        #expect(
            try Order.update { $0.note.set(nil) }.bson(with: encoder) == ["$set": ["note": nil]])
    }
}
