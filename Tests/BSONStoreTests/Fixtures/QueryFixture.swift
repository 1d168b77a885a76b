@testable import BSONStore

/// Reads the cases of `fixtures/queries` and answers them in memory.
enum QueryFixture {
    static let folder = "queries"

    private static let keys: Set = [
        "documents", "filter", "sort", "skip", "limit", "projection", "collation", "let",
        "distinct",
    ]
    private static let outcomes: Set = ["expected", "expectedIDs", "expectedValues", "error"]

    static func cases(of file: String) throws -> [Fixture] {
        try FixtureFile(file, in: folder, keys: keys, outcomes: outcomes).cases
    }

    /// The documents that the case finds, or the distinct values of a path.
    static func answer(_ fixture: Fixture) throws -> [BSONValue] {
        let filter = try Filter(try fixture.document("filter") ?? BSONDocument())
        var found = try (fixture.documents("documents") ?? []).filter { filter.matches($0) }
        if let sort = try fixture.document("sort") {
            let order = try SortOrder(sort)
            var sorter = DocumentSorter(order: order, skip: 0, limit: 0)
            for document in found { try sorter.insert(document) }
            found = sorter.sorted()
        }
        let limit = try fixture.number("limit")
        found = Array(found.dropFirst(try fixture.number("skip")))
        if limit > 0 { found = Array(found.prefix(limit)) }
        if let projection = try fixture.document("projection") {
            let projection = try Projection(projection)
            found = try found.map { try projection.apply(to: $0, matching: filter) }
        }
        return found.map { .document($0) }
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
