@testable import BSONCore
@testable import BSONQuery
@testable import BSONStore

/// Reads the cases of `fixtures/queries` and answers them in memory.
enum QueryFixture {
    static let folder = "queries"

    private static let keys: Set = [
        "documents", "filter", "sort", "skip", "limit", "projection", "collation", "let",
        "distinct", "textIndex",
    ]
    private static let outcomes: Set = ["expected", "expectedIDs", "expectedValues", "error"]

    static func cases(of file: String) throws -> [Fixture] {
        try FixtureFile(file, in: folder, keys: keys, outcomes: outcomes).cases
    }

    /// The documents that the case finds, or the distinct values of a path.
    static func answer(_ fixture: Fixture) throws -> [BSONValue] {
        let (options, frame) = try options(fixture)
        let filter = try Filter(
            try fixture.document("filter") ?? BSONDocument(), options: options)
        var found: [BSONDocument] = []
        for document in try fixture.documents("documents") ?? []
        where try filter.evaluate(document, frame) {
            found.append(document)
        }
        if let path = fixture["distinct"]?.stringValue {
            var values = try DistinctValues(path, collation: options.collation)
            for document in found { document.withUnsafeBytes { values.insert($0) } }
            return try values.sorted()
        }
        found = try sorted(found, fixture, filter)
        let limit = try fixture.number("limit")
        found = Array(found.dropFirst(try fixture.number("skip")))
        if limit > 0 { found = Array(found.prefix(limit)) }
        if let projection = try fixture.document("projection") {
            let projection = try Projection(
                projection, variables: try fixture.document("let") ?? [:],
                collation: filter.collation)
            found = try found.map { try projection.apply(to: $0, matching: filter) }
        }
        return found.map { .document($0) }
    }

    /// The options of the case's filter and the values of its variables.
    static func options(_ fixture: Fixture) throws -> (FilterOptions, ExpressionFrame) {
        var options = FilterOptions()
        options.collation = try fixture.document("collation").flatMap { try Collation($0) }
        if let index = try fixture.document("textIndex") {
            options.textIndex = TextIndexFields(
                weights: index.reduce(into: [:]) { weights, field in
                    weights[field.key] = Double(field.value.int64Value ?? 1)
                })
        }
        let variables = try CommandVariables(try fixture.document("let"))
        options.variables = variables.scope
        return (options, try variables.frame(now: BSONDatetime(milliseconds: 0)))
    }

    private static func sorted(
        _ documents: [BSONDocument], _ fixture: Fixture, _ filter: Filter
    ) throws -> [BSONDocument] {
        let sort = try fixture.document("sort").map {
            try SortOrder($0, collation: filter.collation)
        }
        guard let order = sort ?? filter.impliedOrder else { return documents }
        var sorter = DocumentSorter(order: order, skip: 0, limit: 0)
        for document in documents {
            try sorter.insert(document, metadata: filter.metadata(of: document))
        }
        return sorter.sorted()
    }
}

extension Fixture {
    /// Compares an answer with what the case expects: documents, their ids, or values.
    func expect(_ answer: [BSONValue]) throws {
        if let ids = try values("expectedIDs") {
            expect(answer.map { $0.documentValue?["_id"] ?? .undefined }, toBe: ids)
        } else if let documents = try values("expected") {
            expect(answer, toBe: documents)
        } else if let values = try values("expectedValues") {
            expect(answer, toBe: values)
        }
    }
}
