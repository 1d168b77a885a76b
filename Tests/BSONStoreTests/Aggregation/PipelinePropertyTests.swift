import Testing

@testable import BSONCore
@testable import BSONQuery
@testable import BSONStore

/// Without these a pipeline could trap on documents that no case thinks of, or disagree with itself.
@Suite struct PipelinePropertyTests {
    private let namespace = Namespace("laws", "input")

    private func store(_ documents: [BSONDocument]) throws -> DocumentStore {
        let store = try DocumentStore(at: .inMemory)
        try store.write { transaction in
            for document in documents { try transaction.insert(namespace, document) }
        }
        return store
    }

    private func numbers(_ seed: UInt64, count: Int) -> [BSONDocument] {
        var random = SeededGenerator(seed: seed)
        return (0..<count).map { index in
            let value: BSONValue =
                switch Int.random(in: 0..<4, using: &random) {
                case 0: .int32(Int32.random(in: -9...9, using: &random))
                case 1: .int64(Int64.random(in: -9...9, using: &random))
                case 2: .double(Double(Int.random(in: -18...18, using: &random)) / 2)
                default: .string("none")
                }
            let key = Int32.random(in: 0..<5, using: &random)
            return ["_id": .int32(Int32(index)), "k": .int32(key), "v": value]
        }
    }

    @Test(arguments: 1...20 as ClosedRange<UInt64>)
    func `sums and counts by group are those of a plain loop`(_ seed: UInt64) throws {
        let documents = numbers(seed, count: 200)
        let store = try store(documents)
        defer { store.close() }
        var sums: [Int64: (sum: Double, count: Int64)] = [:]
        for document in documents {
            let key = document["k"]?.int64Value ?? 0
            sums[key, default: (0, 0)].sum += NumberCoercion.double(document["v"]) ?? 0
            sums[key, default: (0, 0)].count += 1
        }
        let groups = try store.collection(namespace).aggregate([
            ["$group": ["_id": "$k", "s": ["$sum": "$v"], "n": ["$sum": 1]]]
        ])
        #expect(groups.count == sums.count)
        for group in groups {
            let wanted = try #require(sums[group["_id"]?.int64Value ?? -1])
            #expect(NumberCoercion.double(group["s"]) == wanted.sum)
            #expect(group["n"]?.int64Value == wanted.count)
        }
    }

    @Test(arguments: 1...20 as ClosedRange<UInt64>)
    func `a sort is a total order that keeps equal documents in place`(_ seed: UInt64) throws {
        let documents = numbers(seed, count: 150)
        let store = try store(documents)
        defer { store.close() }
        // Behind another stage, so that the pipeline sorts and not the store.
        let sorted = try store.collection(namespace).aggregate([
            ["$addFields": ["w": "$v"]], ["$sort": ["w": 1]],
        ])
        #expect(sorted.count == documents.count)
        for (left, right) in zip(sorted, sorted.dropFirst()) {
            let order = BSONOrder.compare(left["w"] ?? .null, right["w"] ?? .null)
            #expect(order != .greater)
            let isInOrder = left["_id"]?.int64Value ?? 0 < right["_id"]?.int64Value ?? 0
            #expect(order == .less || isInOrder)
        }
        let limited = try store.collection(namespace).aggregate([
            ["$addFields": ["w": "$v"]], ["$sort": ["w": 1]], ["$limit": 7],
        ])
        #expect(limited == Array(sorted.prefix(7)))
    }

    @Test(arguments: 1...20 as ClosedRange<UInt64>)
    func `a facet gives what its pipelines give alone`(_ seed: UInt64) throws {
        let store = try store(numbers(seed, count: 60))
        defer { store.close() }
        let collection = store.collection(namespace)
        let pipelines: [[BSONDocument]] = [
            [["$sort": ["v": -1]], ["$skip": 3], ["$limit": 5]],
            [["$match": ["v": ["$gt": 0]]], ["$count": "n"]],
            [["$group": ["_id": "$k", "m": ["$max": "$v"]]]],
            [["$bucketAuto": ["groupBy": "$v", "buckets": 4]]],
        ]
        var facets = BSONDocument()
        for (index, pipeline) in pipelines.enumerated() {
            facets.append(
                "p\(index)", .array(BSONArray(pipeline.map { BSONValue.document($0) })))
        }
        let found = try collection.aggregate([["$facet": .document(facets)]])
        for (index, pipeline) in pipelines.enumerated() {
            // A group that begins a pipeline keeps another one of equal values.
            let alone = try collection.aggregate([["$redact": "$$KEEP"]] + pipeline)
            #expect(
                found.first?["p\(index)"]?.arrayValue?.values
                    == alone.map { BSONValue.document($0) })
        }
    }

    @Test(arguments: 1...20 as ClosedRange<UInt64>)
    func `a join through an index, a table and a loop are the same`(_ seed: UInt64) throws {
        let documents = numbers(seed, count: 40)
        let store = try store(documents)
        defer { store.close() }
        let joined = try store.collection(namespace).aggregate([
            [
                "$lookup": [
                    "from": "input", "localField": "k", "foreignField": "_id", "as": "byID",
                ]
            ],
            ["$lookup": ["from": "input", "localField": "v", "foreignField": "v", "as": "byV"]],
        ])
        for document in joined {
            let byID = documents.filter { $0["_id"] == document["k"] }
            let byValue = documents.filter {
                BSONOrder.compare($0["v"] ?? .null, document["v"] ?? .null) == .equal
            }
            #expect(document["byID"]?.arrayValue?.values == byID.map { .document($0) })
            #expect(document["byV"]?.arrayValue?.values == byValue.map { .document($0) })
        }
    }

    @Test(arguments: AggregationFixture.files)
    func `the pipelines of the cases answer or throw on any documents`(_ file: String) throws {
        var random = RandomBSON(seed: 11)
        for fixture in try AggregationFixture.cases(of: file) {
            let store = try DocumentStore(at: .inMemory)
            defer { store.close() }
            for name in ["input", "inv", "g", "o", "t"] {
                for _ in 0..<5 {
                    do {
                        try store.collection(Namespace("laws", name))
                            .insertOne(random.document(depth: 3))
                    } catch {
                        #expect(error is StoreError)
                    }
                }
            }
            do {
                try store.collection(namespace).aggregate(
                    try fixture.documents("pipeline") ?? [],
                    options: PipelineOptions(let: try fixture.document("let")))
            } catch {
                #expect(error is StoreError, "\(fixture.name): \(error)")
            }
        }
    }

    @Test func `counting documents reads none of them`() throws {
        let store = try store(numbers(3, count: 50))
        defer { store.close() }
        let pipeline = try Pipeline([
            ["$match": ["k": ["$gte": 2]]], ["$skip": 1], ["$limit": 40],
            ["$group": ["_id": 1, "n": ["$sum": 1]]],
        ])
        #expect(pipeline.stages.count == 1)
        #expect(pipeline.stages.first is any CountingStage)
        #expect((pipeline.access.skip, pipeline.access.limit) == (1, 40))
    }

    @Test func `a stage that holds too much is refused`() throws {
        var memory = PipelineMemory("$group", PipelineMemory.bytesMax)
        try memory.add(PipelineMemory.bytesMax)
        do throws(StoreError) {
            try memory.add(1)
            Issue.record("more than the limit is held")
        } catch {
            #expect(error.code.rawValue == 292)
            #expect(
                error.message
                    == "Exceeded memory limit for $group, but didn't allow external sort. Pass "
                    + "allowDiskUse:true to opt in.")
        }
    }

    @Test func `pipelines are nested twenty times at most`() throws {
        func nested(_ depth: Int) -> BSONArray {
            guard depth > 0 else { return BSONArray() }
            return [["$unionWith": ["coll": "x", "pipeline": .array(nested(depth - 1))]]]
        }
        _ = try Pipeline(nested(20))
        do throws(StoreError) {
            _ = try Pipeline(nested(21))
            Issue.record("the pipeline is nested too deeply")
        } catch {
            #expect(error.code.rawValue == 232)
            #expect(error.message == "Maximum number of nested sub-pipelines exceeded. Limit is 20")
        }
    }
}
