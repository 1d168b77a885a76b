import BSONStore
import Testing

/// A number in the path of a sort is a position or a name, but not both in one document.
///
/// Source: the server's `expression_algo.cpp` and `btree_key_generator.cpp`, error 16746.
@Suite struct SortPositionTests {
    private static let items = Namespace("shop", "items")

    private static func sorted(_ value: BSONValue, by path: String) throws -> Int {
        let store = try DocumentStore(at: .inMemory)
        try store.collection(items).insertOne(["_id": 1, "a": value])
        let options = try FindOptions(sort: SortOrder(BSONDocument([(path, BSONValue.int32(1))])))
        return try store.read { transaction in
            try transaction.find(items, filter: Filter([:]), options: options).count
        }
    }

    @Test(
        "a position that is also a field of a member is refused",
        arguments: [
            ([["0": 5]], "a.0"), ([[1], ["0": 5]], "a.0"), ([["b": [["0": 5]]]], "a.b.0"),
            ([["0": ["b": 1], "b": 2]], "a.0.b"),
        ] as [(BSONValue, String)])
    func refused(value: BSONValue, path: String) throws {
        let error = #expect(throws: StoreError.self) { try Self.sorted(value, by: path) }
        #expect(error?.code.rawValue == 16746)
    }

    @Test(
        "a number that is only a position or only a field sorts",
        arguments: [
            ([["1": 5]], "a.1"), ([3, ["1": 5]], "a.0"), ([["00": 5]], "a.00"), (["0": 5], "a.0"),
        ] as [(BSONValue, String)])
    func accepted(value: BSONValue, path: String) throws {
        #expect(try Self.sorted(value, by: path) == 1)
    }
}
