@testable import BSONCore
@testable import BSONQuery
@testable import BSONStore
import Testing

extension Fixture {
    /// Whether the case names a collation, and has an answer.
    var isCollated: Bool { self["collation"] != nil && self["error"] == nil }

    /// The case without its collation.
    var withoutCollation: Fixture {
        var fields = fields
        fields.removeValue(forKey: "collation")
        return Fixture(name: name, fields: fields)
    }

    /// Fills a collection that has the case's collation.
    func fillCollated(_ store: DocumentStore) throws -> DocumentCollection<BSONDocument> {
        let namespace = Namespace("inherited", "case")
        try store.write { transaction in
            try transaction.dropCollection(namespace)
            try transaction.createCollection(
                namespace, try CollectionOptions(["collation": self["collation"] ?? .null]))
            for document in try documents("documents") ?? [] {
                try transaction.insert(namespace, document)
            }
        }
        return store.collection(namespace)
    }
}

/// Answers the cases of `fixtures/queries` from collections of a store.
enum StoredQueryFixture {
    private static func namespace(_ number: Int, _ indexes: FixtureIndexes) -> Namespace {
        Namespace(indexes.rawValue, "case\(number)")
    }

    /// Stores the documents of a file's cases.
    static func fill(_ cases: [Fixture], _ store: DocumentStore) throws {
        try store.write { transaction in
            for (number, fixture) in cases.enumerated() {
                var fields = FixtureFields()
                fields.add(filter: fixture["filter"])
                fields.add(filter: fixture["sort"])
                if let path = fixture["distinct"]?.stringValue { fields.add(filter: [path: 1]) }
                for indexes in FixtureIndexes.allCases {
                    let namespace = namespace(number, indexes)
                    for document in try fixture.documents("documents") ?? [] {
                        try transaction.insert(namespace, document)
                    }
                    try indexes.create(
                        fields, try fixture.document("collation"), on: namespace, transaction)
                    if let text = try fixture.document("textIndex"), indexes != .none {
                        try transaction.createIndex(
                            namespace, try textIndex(text, named: "words"))
                    }
                    if indexes != .none, let (path, near) = try nearest(fixture) {
                        let kind: BSONValue = near.isMeasured(by: .plane) ? "2d" : "2dsphere"
                        try transaction.createIndex(
                            namespace, try IndexDefinition(["key": [path.description: kind]]))
                    }
                }
            }
        }
    }

    private static func textIndex(
        _ weights: BSONDocument, named name: String
    ) throws -> IndexDefinition {
        let keys = BSONDocument(weights.map { ($0.key, BSONValue.string("text")) })
        return try IndexDefinition([
            "key": .document(keys), "weights": .document(weights), "name": .string(name),
        ])
    }

    /// The `$near` of the case, if its filter is one that can be read.
    private static func nearest(_ fixture: Fixture) throws -> (path: FieldPath, near: GeoNear)? {
        guard fixture["error"] == nil else { return nil }
        let (options, _) = try QueryFixture.options(fixture)
        return try Filter(try fixture.document("filter") ?? [:], options: options).nearest
    }

    /// Answers every case without and with indexes; `$near` has no answer without its own.
    static func check(_ cases: [Fixture], _ store: DocumentStore) throws {
        for (number, fixture) in cases.enumerated() {
            for indexes in FixtureIndexes.allCases {
                let namespace = namespace(number, indexes)
                if indexes == .none, try nearest(fixture) != nil {
                    let error = #expect(throws: StoreError.self) {
                        try answer(fixture, store.collection(namespace))
                    }
                    #expect(error?.code == .noQueryExecutionPlans)
                    continue
                }
                try fixture.run(
                    { try answer(fixture, store.collection(namespace)) },
                    { try expect($0, fixture, isScan: indexes == .none) })
            }
        }
    }

    /// Answers a case by the collation of the collection instead of its own.
    static func checkInherited(_ fixture: Fixture, _ store: DocumentStore) throws {
        let collection = try fixture.fillCollated(store)
        try fixture.run({ try answer(fixture.withoutCollation, collection) }) {
            try fixture.expect($0)
        }
    }

    private static func answer(
        _ fixture: Fixture, _ collection: DocumentCollection<BSONDocument>
    ) throws -> [BSONValue] {
        let (options, frame) = try QueryFixture.options(fixture)
        let filter = try Filter(try fixture.document("filter") ?? [:], options: options)
            .bound(to: frame)
        if let path = fixture["distinct"]?.stringValue {
            return try collection.store.read {
                try $0.distinct(collection.namespace, field: path, filter: filter)
            }
        }
        let find = try FindOptions(
            sort: try fixture.document("sort").map {
                try SortOrder($0, collation: options.collation)
            },
            skip: try fixture.number("skip"), limit: try fixture.number("limit"),
            projection: try fixture.document("projection").map {
                try Projection(
                    $0, variables: try fixture.document("let") ?? [:],
                    collation: options.collation)
            })
        return try collection.store.read {
            try $0.find(collection.namespace, filter: filter, options: find)
        }.map { .document($0) }
    }

    /// Without a sort an index may give another order, and other documents where only some are
    /// wanted; equal ones may come in any order as well.
    private static func expect(
        _ answer: [BSONValue], _ fixture: Fixture, isScan: Bool
    ) throws {
        if isScan { return try fixture.expect(answer) }
        let isCut = fixture["skip"] != nil || fixture["limit"] != nil
        if isCut, fixture["sort"] == nil {
            return expectCount(answer, fixture)
        }
        var loose = fixture.fields
        loose.set("unordered", to: true)
        try Fixture(name: fixture.name, fields: loose).expect(answer)
    }

    private static func expectCount(_ answer: [BSONValue], _ fixture: Fixture) {
        let expected = ["expected", "expectedIDs", "expectedValues"].lazy
            .compactMap { fixture[$0]?.arrayValue }.first
        fixture.expect([.int32(Int32(answer.count))], toBe: [.int32(Int32(expected?.count ?? 0))])
    }
}
