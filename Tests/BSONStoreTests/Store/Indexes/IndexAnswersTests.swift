import Foundation
import Testing

@testable import BSONCore
@testable import BSONQuery
@testable import BSONStore

/// An index changes how a query is answered, never the answer.
struct IndexAnswersTests {
    static var pairs: Int {
        ProcessInfo.processInfo.environment["INDEX_PAIRS"].flatMap(Int.init) ?? 2_000
    }

    private static var seed: UInt64 {
        ProcessInfo.processInfo.environment["INDEX_SEED"].flatMap(UInt64.init) ?? 7
    }

    @Test("with and without indexes, random queries have the same answers")
    func sameAnswers() throws {
        var world = RandomIndexedWorld(random: SeededGenerator(seed: Self.seed))
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
        _ collection: DocumentCollection, _ documents: [BSONDocument],
        _ world: inout RandomIndexedWorld
    ) throws {
        try collection.insertMany(Array(documents.prefix(12)))
        for _ in 0..<3 { create(world.index(), in: collection) }
        for document in documents.dropFirst(12) {
            let other: BSONDocument = ["_id": document["_id"] ?? .null, "a": world.scalar()]
            do {
                try collection.insertOne(document)
            } catch let error as StoreError {
                // Parallel arrays: the index goes, since both sides must hold the same.
                #expect([171, 16766].contains(error.code.rawValue))
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
            #expect([85, 86, 171, 16766].contains(error.code.rawValue), "\(error)")
        } catch {
            Issue.record("\(error)")
        }
    }

    private func compare(
        _ plain: DocumentCollection, _ indexed: DocumentCollection,
        _ world: inout RandomIndexedWorld,
        _ round: Int
    ) throws {
        let (filter, sort) = (world.filter(), world.sort())
        let collation = try world.collation().flatMap { try Collation($0) }
        let query = try Filter(
            filter, options: FilterOptions(collation: collation, isOfQuery: false))
        let order = try sort.map { try SortOrder($0, collation: collation) }
        var options = try FindOptions(sort: order)
        let text = String(filter.extendedJSON(.relaxed))
        let note: Comment =
            "round \(round) filter \(text) sort \(sort ?? [:]) collated \(collation != nil)"
        func find(_ collection: DocumentCollection) throws -> [BSONDocument] {
            try collection.store.read {
                try $0.find(collection.namespace, filter: query, options: options)
            }
        }
        let expected: [BSONDocument]
        do {
            expected = try find(plain)
        } catch let error as StoreError {
            // Keys through different arrays have no order; an index on both cannot be.
            #expect(error.message == "cannot sort with keys that are parallel arrays")
            return
        }
        let found = try find(indexed)
        #expect(found.count == expected.count && Self.ids(found) == Self.ids(expected), note)
        if let order {
            // Documents that are equal in the sort may come in any order.
            #expect(found.map { order.key(of: $0) } == expected.map { order.key(of: $0) }, note)
            options.limit = 3
            let (first, least) = (try find(indexed), try find(plain))
            #expect(first.map { order.key(of: $0) } == least.map { order.key(of: $0) }, note)
        }
        let count = try indexed.store.read { try $0.count(indexed.namespace, filter: query) }
        #expect(count == expected.count, note)
        let path = world.path()
        #expect(
            try Self.distinct(path, query, indexed) == Self.distinct(path, query, plain),
            "distinct \(path) \(note)")
    }

    private static func ids(_ documents: [BSONDocument]) -> Set<BSONValue> {
        Set(documents.compactMap { $0["_id"] })
    }

    /// The keys of the different values, which may come in any order and width.
    private static func distinct(
        _ path: String, _ filter: Filter, _ collection: DocumentCollection
    ) throws -> Set<[UInt8]> {
        let values = try collection.store.read {
            try $0.distinct(collection.namespace, field: path, filter: filter)
        }
        return Set(values.map { BSONKey.encode(filter.collation?.key($0) ?? $0) })
    }
}
