import Testing

@testable import BSONStore

/// Without these a filter that nobody thought of could trap, or a document could be in no half.
@Suite struct QueryPropertyTests {
    @Test func `a filter and its negation part a collection`() throws {
        var random = SeededGenerator(seed: 1)
        for _ in 0..<3_000 {
            let document = RandomQueries.document(&random)
            let conditions = RandomQueries.filter(&random, depth: 2)
            let filter = try Filter(conditions)
            let negation = try Filter(["$nor": [.document(conditions)]])
            #expect(filter.matches(document) != negation.matches(document), "\(conditions)")
        }
    }

    @Test func `matching agrees with a slow and plain reading of the filter`() throws {
        var random = SeededGenerator(seed: 2)
        for _ in 0..<3_000 {
            let document = RandomQueries.document(&random)
            let conditions = RandomQueries.filter(&random, depth: 2)
            let predicate = try PredicateParser.parse(conditions)
            #expect(
                try Filter(conditions).matches(document)
                    == PlainMatching.passes(document, predicate),
                "\(conditions.extendedJSON()) on \(document.extendedJSON())")
        }
    }

    @Test func `a filter on the id alone finds what the compiled filter finds`() throws {
        var random = SeededGenerator(seed: 7)
        for _ in 0..<5_000 {
            let id = RandomQueries.key(&random)
            if case .regularExpression = id { continue }
            var document: BSONDocument = ["a": 1]
            if Bool.random(using: &random) { document.append("_id", RandomQueries.key(&random)) }
            let compiled = try Filter(["$and": [["_id": id]]])
            #expect(try Filter(["_id": id]).matches(document) == compiled.matches(document))
        }
    }

    @Test func `the order of id keys is the order of values`() {
        var random = SeededGenerator(seed: 3)
        for _ in 0..<20_000 {
            let left = RandomQueries.key(&random)
            let right = RandomQueries.key(&random)
            let (a, b) = (BSONKey.encode(left), BSONKey.encode(right))
            let order: BSONOrder =
                a == b ? .equal : a.lexicographicallyPrecedes(b) ? .less : .greater
            #expect(order == BSONOrder.compare(left, right), "\(left) and \(right)")
        }
    }

    @Test func `matching never traps on any document`() throws {
        var random = SeededGenerator(seed: 4)
        var documents = RandomBSON(seed: 4)
        for _ in 0..<1_000 {
            let filter = try Filter(RandomQueries.filter(&random, depth: 3))
            let document = documents.document()
            let isFound = filter.matches(document)
            #expect(filter.matches(try BSONDocument(validating: document.bytes)) == isFound)
        }
    }

    @Test func `updates never trap and never change an id`() throws {
        var random = SeededGenerator(seed: 5)
        for _ in 0..<3_000 {
            var document: BSONDocument = ["_id": 7]
            for (key, value) in RandomQueries.document(&random) { document.append(key, value) }
            let operators = RandomQueries.update(&random)
            do {
                let after = try Update(operators).apply(to: document)
                #expect(BSONOrder.compare(after?["_id"] ?? 7, 7) == .equal)
                #expect(after != document)
            } catch {
                #expect(error.code != .internalError)
            }
        }
    }

    @Test func `decimal sums and products agree with whole numbers`() {
        var random = SeededGenerator(seed: 6)
        for _ in 0..<5_000 {
            let bits = Int64.random(in: 0...40, using: &random)
            let a = Int64.random(in: -(1 << bits)...(1 << bits), using: &random)
            let b = Int64.random(in: -(1 << 20)...(1 << 20), using: &random)
            let (x, y) = (BSONDecimal128(a), BSONDecimal128(b))
            #expect(DecimalArithmetic.add(x, y).int64Value == a + b)
            #expect(DecimalArithmetic.multiply(x, y).int64Value == a * b)
        }
    }
}
