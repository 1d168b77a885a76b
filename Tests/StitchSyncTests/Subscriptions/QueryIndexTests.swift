import BSONStore
import Testing

@testable import StitchSync

/// An index that overlooks a query evicts documents that are asked for.
struct QueryIndexTests {
    private static let items = Namespace("shop", "items")

    private static func values() throws -> [BSONValue] {
        let one = BSONValue.decimal128(try BSONDecimal128("1"))
        return [
            .double(1), .double(0.5), .double(.nan), "a", "", ["a": 1], [1, "a"], [],
            .binary(BSONBinary([1])), .undefined, .objectID(BSONObjectID(timestampSeconds: 7)),
            true, .datetime(BSONDatetime(milliseconds: 5)), .null,
            .regularExpression(BSONRegularExpression("a")),
            .symbol("a"), .int32(1), .timestamp(BSONTimestamp(seconds: 1, increment: 1)), .int64(1),
            one, .minKey, .maxKey, [["a"], .null, .double(1)],
            [.symbol("a")], [one],
        ]
    }

    @Test("an index matches exactly what one of its queries matches")
    func law() throws {
        let values = try Self.values()
        let conditions: [BSONDocument] = values.flatMap { value -> [BSONDocument] in
            [
                ["f": value], ["f": ["$eq": value]], ["f": ["$in": [value, "b"]]],
                ["$and": [["f": value], ["g": 1]]], ["f": value, "g": 1], ["f": ["$ne": value]],
                ["f.x": value], ["$or": [["f": value], ["g": 2]]],
            ]
        }
        var queries: [SubscriptionQuery] = []
        for condition in conditions {
            // Some values have no place in a condition, such as a regular expression in `$eq`.
            do { queries.append(try SubscriptionQuery(Self.items, condition)) } catch { continue }
        }
        let documents: [BSONDocument] =
            values.map { ["_id": 1, "f": $0, "g": 1] } + [["_id": 1], ["_id": 1, "g": 2]]
        #expect(queries.count > 100)
        for query in queries {
            let index = QueryIndex([query])
            for document in documents {
                #expect(
                    index.matches(document) == query.matches(document), "\(query) \(document)")
            }
        }
        let indexed = queries.filter { $0.wantedValues != nil }
        let index = QueryIndex(indexed)
        for document in documents {
            #expect(
                index.matches(document) == indexed.contains { $0.matches(document) }, "\(document)")
        }
    }

    @Test("queries for values of one field are asked for together, others alone")
    func groups() throws {
        let filters: [BSONDocument] = [
            ["_id": 1], ["_id": ["$in": [2, 3]]], ["_id": ["$eq": 4]], ["n": 1], ["n": 2],
            ["n": ["$gt": 2]], ["n": 3, "m": 1], ["n": 4],
        ]
        let queries = try filters.map { try SubscriptionQuery(Self.items, $0) }
        let groups = QueryGroup.all(in: queries)
        #expect(groups.map(\.queries.count) == [3, 2, 1, 1, 1])
        #expect(groups[0].filter == ["_id": ["$in": [1, 2, 3, 4]]])
        #expect(groups[2].filter == ["n": ["$gt": 2]])
        #expect(QueryGroup(in: queries, at: 0, atMost: 2).queries.count == 2)
        #expect(QueryGroup(in: queries, at: 1, atMost: 1).filter == filters[1])
    }

    @Test("queries that can be asked for together follow the first of them, wherever they are")
    func order() throws {
        let others = Namespace("app", "others")
        let wanted: [(Namespace, BSONDocument)] = [
            (Self.items, ["_id": 1]), (others, ["_id": 1]), (Self.items, ["n": 1]),
            (Self.items, ["n": ["$gt": 2]]), (others, ["_id": ["$in": [2, 3]]]),
            (Self.items, ["n": 3, "m": 1]), (Self.items, ["_id": 2]), (Self.items, ["n": 2]),
        ]
        let queries = try wanted.map { try SubscriptionQuery($0, $1) }
        let ordered = QueryGroup.order(queries)
        #expect(ordered == [0, 6, 1, 4, 2, 7, 3, 5].map { queries[$0] })
        #expect(QueryGroup.all(in: ordered).map(\.queries.count) == [2, 2, 2, 1, 1])
        #expect(QueryGroup.order(ordered) == ordered)
        #expect(QueryGroup.order([]) == [])
    }
}
