@testable import BSONCore
@testable import BSONStore

/// Answers the cases of `fixtures/aggregation` from collections of a store.
///
/// The cases name their collections, so a store holds one case after the other.
enum StoredAggregationFixture {
    /// Empties, fills and asks the store for every case, without and with indexes; the last case's documents stay.
    static func check(_ cases: [Fixture], _ store: DocumentStore) throws {
        for fixture in cases {
            var fields = FixtureFields()
            fields.add(pipeline: fixture["pipeline"])
            for indexes in FixtureIndexes.allCases {
                try store.write { transaction in
                    for namespace in try transaction.collections() {
                        try transaction.dropCollection(namespace)
                    }
                    for namespace in try AggregationFixture.fill(fixture, transaction) {
                        try indexes.create(
                            fields, try fixture.document("collation"), on: namespace,
                            transaction)
                    }
                }
                try check(fixture, store, isScan: indexes == .none)
            }
        }
    }

    private static func check(
        _ fixture: Fixture, _ store: DocumentStore, isScan: Bool
    ) throws {
        try fixture.run({ try AggregationFixture.answer(fixture, store) }) { documents in
            let expected = try fixture.values("expected") ?? []
            let found = documents.map { BSONValue.document($0) }
            if isScan || found == expected {
                fixture.expect(found, toBe: expected)
            } else {
                // An index may give its documents in another order.
                fixture.expect(sorted(found), toBe: sorted(expected))
            }
            try AggregationFixture.checkCollections(fixture, store, inOrder: isScan)
        }
    }

    private static func sorted(_ values: [BSONValue]) -> [BSONValue] {
        values.map(sorted).sorted { BSONOrder.compare($0, $1) == .less }
    }

    private static func sorted(_ value: BSONValue) -> BSONValue {
        switch value {
        case .array(let array): .array(BSONArray(sorted(array.values)))
        case .document(let document):
            .document(BSONDocument(document.map { ($0.key, sorted($0.value)) }))
        default: value
        }
    }
}
