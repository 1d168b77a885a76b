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
        _ collection: DocumentCollection<BSONDocument>, _ documents: [BSONDocument],
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

    private func create(
        _ specification: BSONDocument, in collection: DocumentCollection<BSONDocument>
    ) {
        do {
            try collection.createIndexes([specification])
        } catch let error as StoreError {
            #expect([85, 86, 171, 16766].contains(error.code.rawValue), "\(error)")
        } catch {
            Issue.record("\(error)")
        }
    }

    private func compare(
        _ plain: DocumentCollection<BSONDocument>, _ indexed: DocumentCollection<BSONDocument>,
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
        func find(_ collection: DocumentCollection<BSONDocument>) throws -> [BSONDocument] {
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

    /// MongoDB manual, "cursor.hint()"; the server compares patterns with
    /// `SimpleBSONObjComparator`: in order, and numbers by value.
    @Test("a hint names an index by the order and the values of its pattern, and finds the same")
    func namedByPattern() throws {
        var world = RandomIndexedWorld(random: SeededGenerator(seed: Self.seed))
        for round in 0..<max(1, Self.pairs / 50) {
            let plain = try DocumentStore(at: .inMemory).collection(Namespace("t", "plain"))
            let indexed = try DocumentStore(at: .inMemory).collection(Namespace("t", "indexed"))
            let documents = (0..<12 as Range<Int32>).map { number in
                ["_id": .int32(number), "a": world.scalar(), "b": world.scalar()] as BSONDocument
            }
            try plain.insertMany(documents)
            try indexed.insertMany(documents)
            for _ in 0..<4 { create(world.index(), in: indexed) }
            for _ in 0..<20 {
                let indexes = try indexed.listIndexes()
                let pattern = world.spelled(world.pick(indexes).keyPattern)
                let named = indexes.filter { Self.names(pattern, $0) }
                let note: Comment = "round \(round) pattern \(pattern)"
                let filter = try Filter(
                    world.filter(), options: FilterOptions(isOfQuery: false))
                try compare(plain, indexed, filter, .keyPattern(pattern), named.first, note)
                try drop(pattern, indexed, named, note)
            }
        }
    }

    private func compare(
        _ plain: DocumentCollection<BSONDocument>, _ indexed: DocumentCollection<BSONDocument>,
        _ filter: Filter,
        _ hint: IndexHint, _ named: IndexDefinition?, _ note: Comment
    ) throws {
        do {
            let (found, count, changed) = try indexed.store.write { transaction in
                let found = try transaction.find(
                    indexed.namespace, filter: filter, options: FindOptions(hint: hint))
                let count = try transaction.count(indexed.namespace, filter: filter, hint: hint)
                transaction.hint = hint
                let changed = try transaction.updateMany(
                    indexed.namespace, filter: filter, update: Update(["$set": ["z": 1]]))
                return (found, count, changed.matchedCount)
            }
            let index = try #require(named, note)
            #expect(count == found.count && changed == found.count, note)
            let expected = try plain.store.read { try $0.find(plain.namespace, filter: filter) }
            #expect(Self.ids(found).isSubset(of: Self.ids(expected)), note)
            let hides = index.isSparse || index.partialFilter != nil || index.wildcardField != nil
            if !hides { #expect(Self.ids(found) == Self.ids(expected), note) }
        } catch let error as StoreError {
            let isWildcard = named?.wildcardField != nil
            #expect(error.code.rawValue == (isWildcard ? 291 : 2) && (named == nil) != isWildcard)
        }
    }

    private func drop(
        _ pattern: BSONDocument, _ collection: DocumentCollection<BSONDocument>,
        _ named: [IndexDefinition],
        _ note: Comment
    ) throws {
        let names = Set(try collection.listIndexes().map(\.name))
        let error: StoreError?
        do {
            _ = try collection.store.write { transaction in
                try transaction.dropIndexes(collection.namespace, .document(pattern))
            }
            error = nil
        } catch let thrown as StoreError {
            error = thrown
        }
        let gone = names.subtracting(try collection.listIndexes().map(\.name))
        if named.first?.name == "_id_" {
            #expect(error?.code.rawValue == 72 && gone.isEmpty, note)
        } else {
            #expect(error?.code.rawValue == [27, nil, 181][min(named.count, 2)], note)
            #expect(gone == (named.count == 1 ? Set(named.map(\.name)) : []), note)
        }
    }

    /// Whether a pattern has the fields of an index in their order, with equal values.
    private static func names(_ pattern: BSONDocument, _ index: IndexDefinition) -> Bool {
        func plain(_ pattern: BSONDocument) -> [String] {
            pattern.map { field, value in
                let number = value.isNumber ? GeoParser.number(value).description : "\(value)"
                return "\(field) \(number)"
            }
        }
        return plain(pattern) == plain(index.keyPattern)
    }

    /// MongoDB manual, "Collation": "To use simple binary comparison", a command names the locale
    /// `simple`; one that names none has the collection's.
    @Test("an id is compared by the collation of the query, else by the collection's")
    func collatedIDs() throws {
        var world = RandomIndexedWorld(random: SeededGenerator(seed: Self.seed))
        let texts: [BSONValue] = ["a", "A", "\u{e1}", "b", "B", "ab", 1, ["x": "a"], ["x": "A"]]
        let weak: BSONDocument = ["locale": "en", "strength": 2]
        let name = Namespace("t", "named")
        for _ in 0..<max(1, Self.pairs / 10) {
            let store = try DocumentStore(at: .inMemory)
            let own = world.pick([nil, weak, ["locale": "en", "strength": 1]])
            try store.createCollection(name, own.map { ["collation": .document($0)] } ?? [:])
            let collection = store.collection(name)
            try collection.insertMany(texts.map { ["_id": $0] })
            if Bool.random(using: &world.random) { try collection.createIndex(["a": 1, "_id": 1]) }
            let given: BSONDocument? = world.pick([
                nil, ["locale": "simple"], weak, ["locale": "en"],
            ])
            let isSimple = given?["locale"] == "simple"
            let collation = try isSimple ? nil : (given ?? own).flatMap { try Collation($0) }
            let id = world.pick(texts)
            func isFound(_ text: BSONValue) -> Bool {
                guard let collation else { return text == id }
                return collation.compare(text, id) == .equal
            }
            let condition: BSONDocument = world.pick([
                ["_id": id], ["_id": ["$eq": id]], ["_id": ["$in": [id]]],
                ["_id": id, "a": .null], ["$or": [["_id": id]]], ["_id": ["$gte": id, "$lte": id]],
            ])
            let filter = try Filter(
                condition, variables: nil,
                collation: try given.map { try Collation($0) }, now: .now)
            let note: Comment = "\(condition) own \(own ?? [:]) given \(given ?? [:])"
            let expected = Set(texts.filter(isFound))
            try store.write { transaction in
                #expect(Self.ids(try transaction.find(name, filter: filter)) == expected, note)
                #expect(try transaction.count(name, filter: filter) == expected.count, note)
                #expect(
                    try transaction.distinct(name, field: "_id", filter: filter).isEmpty
                        == expected.isEmpty, note)
                let many = try transaction.updateMany(
                    name, filter: filter, update: Update(["$set": ["n": 1]]))
                #expect(many.matchedCount == expected.count, note)
                let one = try transaction.updateOne(
                    name, filter: filter, update: Update(["$set": ["n": 2]]))
                #expect(one.matchedCount == (expected.isEmpty ? 0 : 1), note)
                let taken = try transaction.deleteOne(name, filter: filter)
                #expect(taken.map { expected.contains($0["_id"] ?? .null) } ?? expected.isEmpty)
                #expect(try transaction.count(name, filter: filter) == max(0, expected.count - 1))
            }
        }
    }

    private static func ids(_ documents: [BSONDocument]) -> Set<BSONValue> {
        Set(documents.compactMap { $0["_id"] })
    }

    /// The keys of the different values, which may come in any order and width.
    private static func distinct(
        _ path: String, _ filter: Filter, _ collection: DocumentCollection<BSONDocument>
    ) throws -> Set<[UInt8]> {
        let values = try collection.store.read {
            try $0.distinct(collection.namespace, field: path, filter: filter)
        }
        return Set(values.map { BSONKey.encode(filter.collation?.key($0) ?? $0) })
    }
}
