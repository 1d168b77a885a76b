import Testing

@testable import BSONCore
@testable import BSONQuery
@testable import BSONStore

/// Without these the short way of a synced write's conditions could let a write pass that the parsed
/// filter refuses, or take a filter for valid that is not.
@Suite struct ExactConditionsTests {
    @Test func `conditions that are met by their bytes are met by the parsed filter`() throws {
        var random = SeededGenerator(seed: 1)
        var values = RandomBSON(seed: 2)
        var (recognized, met) = (0, 0)
        for round in 0..<20_000 {
            var document: BSONDocument = ["_id": .int32(Int32(round % 3))]
            for key in ["a", "b", "c"] where Bool.random(using: &random) {
                document.append(key, Self.value(&values, depth: 2))
            }
            var conditions: BSONDocument = ["_id": .int32(Int32(round % 3))]
            for path in ["a", "a.a", "a.b", "b", "b.0", "c"].shuffled(using: &random).prefix(2) {
                let found = Self.value(at: path, in: document)
                let wanted = values.number(0..<4) == 0 ? Self.value(&values, depth: 1) : found
                conditions.append(path, Self.condition(wanted, &values))
            }
            guard let exact = ExactConditions(conditions) else { continue }
            recognized += 1
            let parsed = try Filter(["$and": [.document(conditions)]]).matches(document)
            let isMet = document.withUnsafeBytes { exact.areMet(by: $0) }
            met += isMet ? 1 : 0
            let text = "\(conditions.extendedJSON()) on \(document.extendedJSON())"
            #expect(!isMet || parsed, "\(text)")
            #expect(try Filter(conditions).matches(document) == parsed, "\(text)")
            #expect(try Filter(conditions).evaluate(document) == parsed, "\(text)")
        }
        #expect(recognized > 5_000 && met > 1_000, "\(recognized), \(met)")
    }

    @Test(
        arguments: [
            ["a": 1, "_id": 1], ["_id": ["$eq": 1], "a": 1], ["_id": [1], "a": 1],
            ["_id": 1, "$or": [["a": 1]]], ["_id": 1, "a": ["$gt": 1]], ["_id": 1, "a": [1]],
            ["_id": 1, "a": ["$eq": 1, "$gt": 0]], ["_id": 1, "a": ["$exists": true]],
            ["_id": 1, "a": [:]], ["_id": 1, "a": ["b": 1]], ["_id": 1, "a": ["$type": 99]],
            ["_id": 1, "a": ["$type": 255]], ["_id": 1, "a": ["$type": -1]],
            ["_id": 1, "a": ["$type": 4]], ["_id": 1, "a": ["$type": ["int"]]],
            ["_id": 1, "a": ["$eq": .regularExpression(BSONRegularExpression("a"))]],
            ["_id": 1, "a": ["$eq": .undefined]], ["_id": 1, "a": ["$eq": [1]]],
            ["_id": 1, "a": ["$not": ["$type": 2]]], ["_id": 1, "a": ["$not": [:]]],
            ["_id": 1, "a..b": 1], ["_id": 1, "a.": 1], ["_id": 1, ".a": 1], ["_id": 1, "": 1],
            ["_id": 1, "a.$b": 1], ["_id": 1, "a": ["$eq": ["$b": 1]]], [:], ["_id": 1],
        ] as [BSONDocument])
    func `a filter that may mean more is left to the parser`(filter: BSONDocument) {
        #expect(ExactConditions(filter) == nil)
    }

    @Test func `a document is found by conditions whatever type its number has`() throws {
        let items = try DocumentStore(at: .inMemory).collection(Namespace("app", "items"))
        try items.insertOne(["_id": 1.0, "a": 1, "b": [1, 2]])
        let numbers: [(BSONDocument, Int)] = [
            (["_id": 1, "a": 1.0], 1), (["_id": .int64(1), "b": 2], 1),
            (["_id": 1, "a": ["$eq": 1.0, "$type": 1]], 0), (["_id": 2, "a": 1], 0),
            (["_id": 1, "b": ["$type": 16, "$not": ["$type": 4]]], 0), (["_id": 1, "c": .null], 1),
        ]
        for (filter, count) in numbers {
            let result = try items.updateOne(filter, ["$set": ["seen": .document(filter)]])
            #expect(result.matchedCount == count, "\(filter.extendedJSON())")
        }
    }

    @Test func `a collection's collation applies to conditions`() throws {
        let store = try DocumentStore(at: .inMemory)
        let namespace = Namespace("app", "items")
        try store.createCollection(
            namespace, ["collation": ["locale": "en", "strength": 2]])
        let items = store.collection(namespace)
        try items.insertOne(["_id": "foo", "a": "bar"])
        let result = try items.updateOne(["_id": "FOO", "a": "BAR"], ["$set": ["b": 1]])
        #expect(result.matchedCount == 1)
    }

    private static func value(_ values: inout RandomBSON, depth: Int) -> BSONValue {
        if depth > 0, values.number(0..<3) == 0 {
            return [
                "a": value(&values, depth: depth - 1), "b": value(&values, depth: depth - 1),
            ]
        }
        return switch values.number(0..<8) {
        case 0: .null
        case 1: 1
        case 2: 1.0
        case 3: .int64(1)
        case 4: "a"
        case 5: [1, ["a": 1]]
        case 6: .double(.nan)
        default: values.value(depth: 0)
        }
    }

    private static func value(at path: String, in document: BSONDocument) -> BSONValue {
        var found = BSONValue.document(document)
        for key in path.dottedParts { found = found.documentValue?[key] ?? .null }
        return found
    }

    private static func condition(
        _ value: BSONValue, _ values: inout RandomBSON
    ) -> BSONValue {
        let type = BSONValue.int32(Int32(value.type.rawValue))
        return switch values.number(0..<6) {
        case 0: value
        case 1: ["$eq": value]
        case 2: ["$eq": value, "$type": type]
        case 3: ["$eq": value, "$type": type, "$not": ["$type": 4]]
        case 4: ["$type": type, "$not": ["$type": 4]]
        default: ["$exists": false]
        }
    }
}
