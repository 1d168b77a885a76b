import Testing

@testable import BSONStore

/// A gateway's queries read from a source what a store's read from rows; without these it could answer
/// otherwise.
@Suite struct CandidateSourceTests {
    private static let items = Namespace("shop", "items")

    private static let sorts: [BSONDocument?] = [
        nil, ["a": 1], ["a": -1, "b": 1], ["b": -1], ["a.b": 1], ["b.0": -1], ["_id": -1],
        ["$natural": -1],
    ]
    private static let projections: [BSONDocument?] = [
        nil, ["a": 1], ["b": 0], ["a.$": 1], ["b": ["$elemMatch": ["a": 1]]],
        ["b": ["$slice": 1]], ["_id": 0, "sum": ["$add": ["$a", 1]]],
    ]

    /// A policy that shows all documents but those with a field, and of these no other field.
    private final class HidingPolicy: AccessPolicy, CollectionAccess {
        let filter: Filter?
        var hidesFields: Bool { true }

        init() throws { filter = try Filter(["hidden": ["$exists": false]]) }

        func gate(_ namespace: Namespace) -> (any CollectionAccess)? { self }

        func shown(_ document: BSONDocument) -> BSONDocument {
            var document = document
            document.removeValue(forKey: "secret")
            return document
        }

        func hides(path: String) -> Bool { path == "secret" }

        func judge(
            from before: BSONDocument?, toShown after: BSONDocument?
        ) throws(StoreError) -> BSONDocument? { after }

        func reportedDenial(of document: BSONDocument) -> StoreError {
            StoreError(.unauthorized, "no")
        }
    }

    /// A source with documents of one collection, which counts as well.
    private final class ListSource: CandidateSource {
        let documents: [BSONDocument]
        let policy: HidingPolicy
        /// Whether it counts, as a source does that selects just what is visible.
        let counts: Bool

        init(documents: [BSONDocument], policy: HidingPolicy, counts: Bool) {
            self.documents = documents
            self.policy = policy
            self.counts = counts
        }

        func has(_ namespace: Namespace) -> Bool { namespace == items }

        func forEach(
            _ namespace: Namespace, _ query: CandidateQuery,
            _ body: (BSONDocument) throws(StoreError) -> Bool
        ) throws(StoreError) {
            for document in query.readsLastFirst ? documents.reversed() : documents {
                guard try body(document) else { return }
            }
        }

        func count(
            _ namespace: Namespace, _ filter: Filter, limit: Int
        ) throws(StoreError) -> Int? {
            guard counts else { return nil }
            let found = documents.compactMap(policy.visible).filter { filter.matches($0) }
            return limit > 0 ? found.prefix(limit).count : found.count
        }
    }

    /// What a query finds, or the code and text of its error.
    private enum Outcome: Equatable {
        case found([BSONDocument])
        case failed(Int32, String, StoreError.Phase?)

        init(_ find: () throws -> [BSONDocument]) throws {
            do {
                self = .found(try find())
            } catch let error as StoreError {
                self = .failed(error.code.rawValue, error.message, error.phase)
            }
        }
    }

    private static func documents(_ random: inout SeededGenerator) -> [BSONDocument] {
        (0..<30 as Range<Int32>).map { id in
            var document: BSONDocument = ["_id": .int32(id * 7 % 30)]
            for (key, value) in RandomQueries.document(&random) { document.append(key, value) }
            document.append("secret", .int32(id % 3))
            if id % 5 == 0 { document.append("hidden", true) }
            return document
        }
    }

    @Test(arguments: 0..<20)
    func `documents of a source are found, counted and aggregated as those of a store`(
        _ seed: Int
    ) throws {
        var random = SeededGenerator(seed: UInt64(seed))
        let documents = Self.documents(&random)
        let (full, empty) = (try DocumentStore(at: .inMemory), try DocumentStore(at: .inMemory))
        try full.collection(Self.items).insertMany(documents)
        for store in [full, empty] {
            try store.write { transaction in
                if store === empty { try transaction.createCollection(Self.items) }
                try transaction.createCollection(
                    Namespace("shop", "small"),
                    CollectionOptions([
                        "create": "small", "viewOn": "items",
                        "pipeline": [["$match": ["_id": ["$lt": 20]]]],
                    ]))
            }
        }
        var found = 0
        for _ in 0..<100 {
            let document = RandomQueries.filter(&random, depth: 1)
            let filter = try Filter(document)
            let sort = try Self.sorts.randomElement(using: &random)?.map { try SortOrder($0) }
            let projection = try Self.projections.randomElement(using: &random)?
                .map { try Projection($0) }
            let options = try FindOptions(
                sort: sort, skip: Int.random(in: 0..<4, using: &random),
                limit: Int.random(in: 0..<5, using: &random), projection: projection)
            let pipeline = try Pipeline(
                Self.pipeline(document, Int.random(in: 1..<9, using: &random)))
            let name = Bool.random(using: &random) ? "items" : "small"
            let counts = Bool.random(using: &random)
            func answers(_ store: DocumentStore, _ source: ListSource?) throws -> [Outcome] {
                try store.read { transaction in
                    try transaction.withAccessPolicy(HidingPolicy(), readingFrom: source) {
                        let collection = Namespace("shop", name)
                        return [
                            try Outcome {
                                try transaction.find(
                                    collection, filter: filter, options: options)
                            },
                            try Outcome {
                                let count = try transaction.count(collection, filter: filter)
                                return [["n": .int64(Int64(count))]]
                            },
                            try Outcome {
                                let values = try transaction.distinct(
                                    collection, field: "a", filter: filter)
                                return [["values": .array(BSONArray(values))]]
                            },
                            try Outcome { try transaction.aggregate(collection, pipeline) },
                            try Outcome {
                                let found = try transaction.get(Self.items, id: 7)
                                return found.map { [$0] } ?? []
                            },
                        ]
                    }
                }
            }
            let expected = try answers(full, nil)
            let source = ListSource(
                documents: documents, policy: try HidingPolicy(), counts: counts)
            #expect(try answers(empty, source) == expected, "\(name) \(document)")
            for case .found(let some) in expected.prefix(1) { found += some.count }
        }
        #expect(found > 20)
    }

    private static func pipeline(_ filter: BSONDocument, _ number: Int) -> BSONArray {
        let join: BSONDocument = [
            "$lookup": ["from": "items", "localField": "a", "foreignField": "b", "as": "others"]
        ]
        let tails: [[BSONDocument]] = [
            [["$count": "n"]], [["$skip": 2], ["$limit": 5], ["$count": "n"]],
            [["$group": ["_id": .null, "n": ["$sum": 1]]]],
            [join], [["$sort": ["a": 1, "_id": 1]], ["$limit": 4]],
            [
                ["$unionWith": "small"], ["$group": ["_id": "$a", "n": ["$sum": 1]]],
                ["$sort": ["_id": 1]],
            ],
            [
                [
                    "$lookup": [
                        "from": "small", "as": "others", "let": ["x": "$_id"],
                        "pipeline": [["$match": ["$expr": ["$lt": ["$_id", "$$x"]]]]],
                    ]
                ]
            ],
            [["$facet": ["one": [["$count": "n"]], "two": [["$limit": 2]]]]],
        ]
        let stages = [["$match": .document(filter)]] + tails[number % tails.count]
        return BSONArray(stages.map(BSONValue.document))
    }
}
