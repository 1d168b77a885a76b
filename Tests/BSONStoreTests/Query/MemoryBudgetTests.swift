import Testing

@testable import BSONCore
@testable import BSONStore

/// Without these a few commands could take all memory of a server.
@Suite struct MemoryBudgetTests {
    private static let things = Namespace("app", "things")
    /// Eight documents of 1 MiB.
    private static let documents = (0..<8 as Range<Int32>).map { number -> BSONDocument in
        ["_id": .int32(number), "t": .string(String(repeating: "x", count: 1 << 20))]
    }

    private static func store() throws -> DocumentStore {
        let store = try DocumentStore(at: .inMemory)
        try store.collection(things).insertMany(documents)
        return store
    }

    private static func error(
        _ stages: [BSONDocument], _ memory: MemoryBudget, in store: DocumentStore
    ) -> StoreError? {
        do {
            let pipeline = try Pipeline(BSONArray(stages.map { .document($0) }))
            try WorkBudget(memory: memory).running {
                try store.read { transaction in
                    try transaction.aggregate(things, pipeline) { _ in true }
                }
            }
        } catch let error as StoreError {
            return error
        } catch {
            Issue.record(error)
        }
        return nil
    }

    private static let stages: [String: [BSONDocument]] = [
        "sort": [["$sort": ["t": 1]]],
        "group": [["$group": ["_id": 1, "all": ["$push": "$$ROOT"]]]],
        "facet": [["$facet": ["all": .array([["$skip": 0]])]]],
        "bucketAuto": [["$bucketAuto": ["groupBy": "$_id", "buckets": 2]]],
        "windows": [
            ["$setWindowFields": ["sortBy": ["_id": 1], "output": ["n": ["$sum": "$_id"]]]]
        ],
        "lookup": [
            ["$limit": 1],
            [
                "$lookup": [
                    "from": "things", "as": "all",
                    "pipeline": .array([["$match": ["_id": ["$gte": 0]]]]),
                ]
            ],
        ],
    ]

    @Test(arguments: ["sort", "group", "facet", "bucketAuto", "windows", "lookup"])
    func `a stage may hold a command's share, and gives it back`(_ name: String) throws {
        let (store, stages) = (try Self.store(), try #require(Self.stages[name]))
        let small = MemoryBudget(bytesMax: 8 << 20)
        let error = Self.error(stages, small, in: store)
        #expect(error?.code == .queryExceededMemoryLimitNoDiskUseAllowed)
        #expect(error?.message.contains("one command may hold 4194304 bytes") == true)
        #expect(small.bytes == 0)
        let large = MemoryBudget(bytesMax: 128 << 20)
        #expect(Self.error(stages, large, in: store) == nil)
        #expect(large.bytes == 0)
    }

    @Test func `commands share the memory of all`() throws {
        let budget = MemoryBudget(bytesMax: 8 << 20)
        func begin() -> WorkBudget { WorkBudget(memory: budget) }
        func hold(_ work: WorkBudget) throws -> MemoryHolding {
            try work.running {
                let holding = try #require(MemoryHolding.begin("a test"))
                try holding.add(3 << 20)
                return holding
            }
        }
        let (first, second, third) = (begin(), begin(), begin())
        var held = [try hold(first), try hold(second)]
        #expect(budget.bytes == 6 << 20)
        let error = #expect(throws: StoreError.self) { try hold(third) }
        #expect(error?.code == .queryExceededMemoryLimitNoDiskUseAllowed)
        #expect(error?.message.contains("all running commands together") == true)
        held.removeFirst()
        held.append(try hold(third))
        #expect(budget.bytes == 6 << 20)
        held = []
        #expect(budget.bytes == 0)
    }

    @Test func `distinct values count`() throws {
        let store = try Self.store()
        for id in 100..<108 as Range<Int32> {
            let text = "\(id)" + String(repeating: "x", count: 1 << 20)
            try store.collection(Self.things).insertOne(["_id": .int32(id), "t": .string(text)])
        }
        let memory = MemoryBudget(bytesMax: 8 << 20)
        let error = #expect(throws: StoreError.self) {
            try WorkBudget(memory: memory).running {
                try store.read { try $0.distinct(Self.things, field: "t") }
            }
        }
        #expect(error?.code == .queryExceededMemoryLimitNoDiskUseAllowed)
        #expect(memory.bytes == 0)
    }
}
