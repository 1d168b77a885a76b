import Testing

@testable import BSONCore
@testable import BSONQuery
@testable import BSONStore

/// Without these a damaged file could make a scan read where it must not, or a fast way could answer
/// other than the slow one.
@Suite struct StoredMatchingTests {
    @Test func `matching stored bytes agrees with matching checked documents`() throws {
        var random = SeededGenerator(seed: 11)
        for _ in 0..<5_000 {
            let filter = try Filter(RandomQueries.filter(&random, depth: 1))
            let document = RandomQueries.document(&random)
            let check = try Self.check(filter, document.bytes)
            #expect(check != .damaged && (check != .fails) == filter.matches(document))
        }
    }

    /// A negation would turn the missing answer of a walk that ended early into a match, and a
    /// delete would remove the document.
    @Test(
        arguments: [
            ["a": ["$ne": 7]], ["a": 7], ["a.b": ["$ne": 7]], ["$or": [["a": 7], ["a": 8]]],
            ["a": ["$not": ["$elemMatch": ["$gt": 7]]]],
        ] as [BSONDocument])
    func `a match after the end of the budget throws`(query: BSONDocument) throws {
        let filter = try Filter(query)
        let document: BSONDocument = ["a": [1, 2, ["b": 3]]]
        let budget = WorkBudget()
        budget.stop(.interrupted)
        let error = #expect(throws: StoreError.self) {
            try budget.running { try Self.check(filter, document.bytes) }
        }
        #expect(error?.code == .interrupted)
    }

    /// A document that breaks its collection's rules must not pass because the time ended.
    @Test func `a validator and a partial index do not trust a match after the end of the budget`()
        throws
    {
        let store = try DocumentStore(at: .inMemory)
        let (strict, partial) = (Namespace("app", "strict"), Namespace("app", "partial"))
        try store.createCollection(strict, ["validator": ["a": ["$ne": 7]]])
        try store.collection(partial).createIndex(
            ["b": 1], ["partialFilterExpression": ["a": ["$gt": 5]]])
        for namespace in [strict, partial] {
            let error = #expect(throws: StoreError.self) {
                try store.write { transaction in
                    let budget = WorkBudget()
                    budget.stop(.interrupted)
                    try budget.running {
                        _ = try transaction.insert(namespace, ["_id": 1, "a": [1, 7]])
                    }
                }
            }
            #expect(error?.code == .interrupted)
        }
    }

    @Test func `matching damaged bytes never traps`() throws {
        var random = SeededGenerator(seed: 12)
        var documents = RandomBSON(seed: 12)
        let filters = try [
            ["a": 1], ["a": ["$gt": "a"]], ["b": ["$size": 1]], ["a": 1, "b": ["$exists": true]],
            ["a": ["$lt": .datetime(BSONDatetime(milliseconds: 9))]], ["": .null],
        ].map { try Filter($0) }
        var damaged = 0
        for _ in 0..<20_000 {
            var bytes = documents.document().bytes
            for _ in 0..<Int.random(in: 1...3, using: &random) {
                let at = Int.random(in: 0..<bytes.count, using: &random)
                bytes[at] = UInt8.random(in: 0...255, using: &random)
            }
            if Bool.random(using: &random) {
                bytes.removeLast(Int.random(in: 0...bytes.count, using: &random))
            }
            // Own memory of exactly this size, so that the address sanitizer sees each step beyond.
            let filter = try #require(filters.randomElement(using: &random))
            if try Self.check(filter, Array(bytes)) == .damaged { damaged += 1 }
        }
        #expect(damaged > 5_000)
    }

    @Test func `numbers replaced in place are what the operators say`() throws {
        var random = SeededGenerator(seed: 13)
        let values: [BSONValue] = [
            1, .int64(5), 2.5, .datetime(BSONDatetime(milliseconds: 7)), "x", .int32(.max),
            .int64(.max), .double(.infinity), .null,
        ]
        var inPlace = 0
        for _ in 0..<5_000 {
            var document: BSONDocument = ["_id": 1]
            for key in ["a", "b"] where Int.random(in: 0..<4, using: &random) > 0 {
                document.append(key, values.randomElement(using: &random) ?? .null)
            }
            let names = ["$inc", "$set"].shuffled(using: &random)
            let update = Update.parsed([
                names[0]: ["a": values.randomElement(using: &random) ?? .null],
                names[1]: ["b": values.randomElement(using: &random) ?? .null],
            ])
            guard let update, let quick = update.replacingInPlace(in: document) else { continue }
            inPlace += 1
            #expect(try quick == update.apply(to: document))
        }
        #expect(inPlace > 20)
    }

    private static func check(_ filter: Filter, _ bytes: [UInt8]) throws -> StoredMatchResult {
        try bytes.withUnsafeBytes { bytes in try filter.matchingStored { try $0(bytes) } }
    }
}

extension Update {
    /// `nil` for operators that do not take the random value.
    fileprivate static func parsed(_ document: BSONDocument) -> Update? {
        do throws(StoreError) { return try Update(document) } catch { return nil }
    }
}
