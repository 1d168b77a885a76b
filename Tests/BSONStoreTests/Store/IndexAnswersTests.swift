import Foundation
import Testing

@testable import BSONStore

/// An index changes how a query is answered, never the answer.
struct IndexAnswersTests {
    /// Random documents, filters, sorts and index definitions from a small world, so that they meet.
    struct World {
        static let id = BSONObjectID()
        var random: SeededGenerator

        mutating func pick<T>(_ values: [T]) -> T {
            values[Int.random(in: 0..<values.count, using: &random)]
        }

        mutating func scalar() -> BSONValue {
            pick([
                .null, 0, 1, 2, 3, 1.5, .double(-0.0), .double(.nan), .int64(2), .int64(.max),
                .double(9.3e18),
                "", "a", "ab", "b", .bool(false), .bool(true),
                .datetime(BSONDatetime(milliseconds: -5)),
                .minKey, .maxKey, .objectID(World.id), .document(["x": 1]),
                .document([:]), .undefined, .string("a\0b"),
            ])
        }

        mutating func value(_ depth: Int = 0) -> BSONValue {
            switch Int.random(in: 0..<10, using: &random) {
            case 0,
                1 where depth < 2:
                let count = Int.random(in: 0...3, using: &random)
                return .array(BSONArray((0..<count).map { _ in value(depth + 1) }))
            case 2 where depth < 2: return .document(document(depth + 1))
            default: return scalar()
            }
        }

        mutating func document(_ depth: Int = 0) -> BSONDocument {
            var document = BSONDocument()
            for key in ["a", "b", "c"] where Bool.random(using: &random) {
                document.append(key, value(depth))
            }
            return document
        }

        mutating func path() -> String {
            pick(["a", "a", "a", "b", "b", "c", "a.a", "a.b", "b.0", "a.0.b"])
        }

        mutating func test() -> BSONValue {
            let constant = comparable()
            switch Int.random(in: 0..<9, using: &random) {
            case 0, 1: return constant
            case 2: return ["$gt": constant]
            case 3: return ["$gte": constant, "$lte": comparable()]
            case 4: return ["$lt": constant]
            case 5: return ["$in": [constant, comparable(), comparable()]]
            case 6: return ["$exists": .bool(Bool.random(using: &random))]
            case 7: return ["$ne": constant]
            default: return ["$elemMatch": ["$gte": constant]]
            }
        }

        mutating func comparable() -> BSONValue {
            let value = Int.random(in: 0..<8, using: &random) == 0 ? value(1) : scalar()
            return value == .undefined ? 1 : value
        }

        mutating func filter() -> BSONDocument {
            var filter = BSONDocument()
            for _ in 0..<Int.random(in: 0...2, using: &random) {
                let path = path()
                if filter[path] == nil { filter.append(path, test()) }
            }
            if Int.random(in: 0..<6, using: &random) == 0 {
                filter.append("$or", [.document([path(): test()]), .document([path(): test()])])
            }
            return filter
        }

        mutating func sort() -> BSONDocument? {
            guard Bool.random(using: &random) else { return nil }
            var sort = BSONDocument()
            for _ in 0...Int.random(in: 0...1, using: &random) {
                let path = path()
                if sort[path] == nil { sort.append(path, pick([1, -1])) }
            }
            return sort
        }

        mutating func index() -> BSONDocument {
            var keys = BSONDocument()
            for _ in 0...Int.random(in: 0...2, using: &random) {
                let path = path()
                if keys[path] == nil { keys.append(path, pick([1, -1])) }
            }
            var index: BSONDocument = ["key": .document(keys)]
            switch Int.random(in: 0..<8, using: &random) {
            case 0: index.append("sparse", true)
            case 1: index.append("partialFilterExpression", ["a": ["$gt": 1]])
            case 2: index.append("partialFilterExpression", ["b": ["$exists": true]])
            default: break
            }
            return index
        }
    }

    static var pairs: Int {
        ProcessInfo.processInfo.environment["INDEX_PAIRS"].flatMap(Int.init) ?? 2_000
    }

    @Test("with and without indexes, random queries have the same answers")
    func sameAnswers() throws {
        var world = World(random: SeededGenerator(seed: 7))
        let perStore = 50
        for round in 0..<max(1, Self.pairs / perStore) {
            let plain = try DocumentStore(at: .inMemory).collection(Namespace("t", "plain"))
            let indexed = try DocumentStore(at: .inMemory).collection(Namespace("t", "indexed"))
            var before: [BSONDocument] = []
            for number in 0..<24 as Range<Int32> {
                var document: BSONDocument = ["_id": .int32(number)]
                for (key, value) in world.document() { document.append(key, value) }
                before.append(document)
            }
            try plain.insertMany(before)
            try fill(indexed, before, &world)
            for _ in 0..<perStore {
                try compare(plain, indexed, &world, round)
            }
        }
    }

    /// Half of the documents before the indexes, half after, with changes and deletes between.
    private func fill(
        _ collection: DocumentCollection, _ documents: [BSONDocument], _ world: inout World
    ) throws {
        try collection.insertMany(Array(documents.prefix(12)))
        for _ in 0..<3 { create(world.index(), in: collection) }
        for document in documents.dropFirst(12) {
            let other: BSONDocument = ["_id": document["_id"] ?? .null, "a": world.scalar()]
            do {
                try collection.insertOne(document)
            } catch let error as StoreError {
                // Parallel arrays: the index goes, since both sides must hold the same.
                #expect(error.code.rawValue == 171)
                try collection.dropIndexes()
                try collection.insertOne(document)
            }
            if Int.random(in: 0..<3, using: &world.random) == 0 {
                try collection.replaceOne(["_id": document["_id"] ?? .null], other)
                try collection.deleteOne(["_id": document["_id"] ?? .null])
                try collection.insertOne(document)
            }
        }
    }

    private func create(_ specification: BSONDocument, in collection: DocumentCollection) {
        do {
            try collection.createIndexes([specification])
        } catch let error as StoreError {
            #expect([85, 86, 171].contains(error.code.rawValue))
        } catch {
            Issue.record("\(error)")
        }
    }

    private func compare(
        _ plain: DocumentCollection, _ indexed: DocumentCollection, _ world: inout World,
        _ round: Int
    ) throws {
        let filter = world.filter()
        let sort = try world.sort().map(SortOrder.init)
        let options = try FindOptions(sort: sort)
        let expected = try plain.find(filter, options: options)
        let found = try indexed.find(filter, options: options)
        let note: Comment = "round \(round) filter \(filter.extendedJSON(.relaxed))"
        func ids(_ documents: [BSONDocument]) -> Set<BSONValue> {
            Set(documents.compactMap { $0["_id"] })
        }
        #expect(found.count == expected.count && ids(found) == ids(expected), note)
        #expect(try indexed.count(filter) == expected.count, note)
        if let sort {
            // Documents that are equal in the sort may come in any order.
            #expect(found.map { sort.key(of: $0) } == expected.map { sort.key(of: $0) }, note)
        }
    }
}
