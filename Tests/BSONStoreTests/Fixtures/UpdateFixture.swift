@testable import BSONCore
@testable import BSONQuery
@testable import BSONStore

/// Reads the cases of `fixtures/updates` and carries them out in memory.
enum UpdateFixture {
    static let folder = "updates"

    private static let keys: Set = [
        "documents", "filter", "update", "upsert", "multi", "arrayFilters", "collation", "let",
        "result",
    ]
    private static let outcomes: Set = ["expected", "error"]

    static func cases(of file: String) throws -> [Fixture] {
        try FixtureFile(file, in: folder, keys: keys, outcomes: outcomes).cases
    }

    /// What an update did.
    struct Outcome {
        /// All documents afterwards; one that was inserted without an `_id` has none.
        var documents: [BSONDocument]
        var matched = 0
        var modified = 0
        var upsertedID: BSONValue?
    }

    static func run(_ fixture: Fixture) throws -> Outcome {
        let (filter, update) = try parse(fixture)
        var outcome = Outcome(documents: try fixture.documents("documents") ?? [])
        for (index, document) in outcome.documents.enumerated() where filter.matches(document) {
            outcome.matched += 1
            if let after = try update.apply(to: document, matching: filter) {
                outcome.modified += 1
                outcome.documents[index] = after
            }
            guard fixture.isSet("multi") else { break }
        }
        guard outcome.matched == 0, fixture.isSet("upsert") else { return outcome }
        let inserted = try update.insertion(for: filter)
        outcome.documents.append(inserted)
        outcome.upsertedID = inserted["_id"]
        return outcome
    }

    static func parse(_ fixture: Fixture) throws -> (Filter, Update) {
        var options = EvaluationOptions()
        if let collation = try fixture.document("collation") {
            options.collation = try Collation(collation)
        }
        let update = try Update(
            fixture["update"] ?? .null,
            variables: try fixture.document("let") ?? [:],
            arrayFilters: try fixture.documents("arrayFilters") ?? [],
            collation: options.collation)
        return (try options.filter(try fixture.document("filter") ?? [:]), update)
    }
}

extension Fixture {
    /// Compares what an update did with what the case expects.
    func expect(_ outcome: UpdateFixture.Outcome) throws {
        let expected = try values("expected") ?? []
        expect(outcome.documents.map { .document($0) }, toBe: expected)
        guard let result = try document("result") else { return }
        var counts: BSONDocument = [
            "matched": .int32(Int32(outcome.matched)),
            "modified": .int32(Int32(outcome.modified)),
        ]
        if let id = outcome.upsertedID { counts["upsertedID"] = id }
        expect([.document(counts)], toBe: [.document(result)])
    }
}
