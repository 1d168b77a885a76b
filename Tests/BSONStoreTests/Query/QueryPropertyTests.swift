import Testing

@testable import BSONCore
@testable import BSONQuery
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

    @Test func `a filter by a collation agrees with a plain reading over keys`() throws {
        var random = SeededGenerator(seed: 8)
        let collation = try Collation(["locale": "en", "strength": 2])
        for _ in 0..<200 {
            let texts = ["a", "A", "á", "b", "Ab", ""].map { BSONValue.string($0) }
            let values = (0..<3).map { _ in texts.randomElement(using: &random) ?? .null }
            let document: BSONDocument = ["a": values[0], "b": [values[1], ["c": values[2]]]]
            let wanted = texts.randomElement(using: &random) ?? .null
            for test in ["$eq", "$ne", "$gt", "$gte", "$lt", "$lte"] {
                for path in ["a", "b", "b.c"] {
                    let filter: BSONDocument = [path: [test: wanted]]
                    let keyed: BSONDocument = [path: [test: collation.key(wanted)]]
                    let predicate = try PredicateParser.parse(keyed)
                    guard case .document(let plain) = collation.key(.document(document)) else {
                        continue
                    }
                    #expect(
                        try Filter(filter, options: FilterOptions(collation: collation))
                            .matches(document) == PlainMatching.passes(plain, predicate))
                }
            }
        }
    }

    @Test func `no document traps the parser, and what it reads never traps`() {
        var random = SeededGenerator(seed: 9)
        var options = FilterOptions()
        options.textIndex = TextIndexFields(weights: ["a": 1])
        var read = 0
        for _ in 0..<20_000 {
            let conditions = RandomFilters.document(&random, depth: 3)
            do {
                let filter = try Filter(conditions, options: options)
                read += 1
                for _ in 0..<3 {
                    let document = RandomQueries.document(&random)
                    #expect(filter.matches(document) == filter.matches(document))
                }
            } catch {
                #expect(error.code != .internalError)
            }
        }
        #expect(read > 1_000)
    }

    @Test func `sorting is a total order that agrees with comparing values`() throws {
        var random = SeededGenerator(seed: 10)
        for isDescending in [false, true] {
            let order = try SortOrder(["a": isDescending ? -1 : 1])
            for _ in 0..<5_000 {
                let values = (0..<3).map { _ in RandomQueries.value(&random) }
                let keys = values.map { order.key(of: ["a": $0] as BSONDocument) }
                let (a, b, c) = (keys[0], keys[1], keys[2])
                let isLess = a.lexicographicallyPrecedes(b)
                #expect(!(isLess && b.lexicographicallyPrecedes(a)))
                if isLess, b.lexicographicallyPrecedes(c) {
                    #expect(a.lexicographicallyPrecedes(c))
                }
                let (left, right) = (
                    Self.chosen(values[0], isDescending), Self.chosen(values[1], isDescending)
                )
                let expected = BSONOrder.compare(left, right)
                let order: BSONOrder = a == b ? .equal : isLess ? .less : .greater
                #expect(order == (isDescending ? expected.reversed : expected))
            }
        }
    }

    /// The member of an array that a sort looks at; undefined for an empty array.
    private static func chosen(_ value: BSONValue, _ isDescending: Bool) -> BSONValue {
        guard let array = value.arrayValue else { return value }
        let sorted = array.values.sorted { BSONOrder.compare($0, $1) == .less }
        return (isDescending ? sorted.last : sorted.first) ?? .undefined
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
