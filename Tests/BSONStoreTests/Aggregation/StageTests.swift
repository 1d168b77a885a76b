import Testing

@testable import BSONCore
@testable import BSONStore

/// Without these a stage could answer otherwise than MongoDB, or find nothing where it has to refuse.
@Suite struct StageTests {
    private func results(
        _ stages: [BSONDocument], of documents: [BSONDocument]
    ) throws -> [BSONDocument] {
        let things = try DocumentStore(at: .inMemory).collection(Namespace("app", "things"))
        try things.insertMany(documents)
        return try things.aggregate(stages)
    }

    private func code(
        _ stages: [BSONDocument], of documents: [BSONDocument] = [["_id": 1, "a": "word"]]
    ) -> Int32? {
        let error = #expect(throws: StoreError.self) { try results(stages, of: documents) }
        return error?.code.rawValue
    }

    @Test func `a group by a document of one field counts a missing value as null`() throws {
        let documents: [BSONDocument] = [["_id": 1, "a": .null], ["_id": 2]]
        func groups(_ key: BSONValue) throws -> [BSONDocument] {
            try results([["$group": ["_id": key, "n": ["$sum": 1]]]], of: documents)
        }
        #expect(try groups(["a": "$a"]) == [["_id": ["a": .null], "n": 2]])
        #expect(try groups(["a": "$$REMOVE"]) == [["_id": ["a": .null], "n": 2]])
        #expect(try groups(["a": ["b": "$b"]]) == [["_id": ["a": [:]], "n": 2]])
        #expect(
            try groups(["a": "$a", "b": "$b"])
                == [["_id": ["a": .null], "n": 1], ["_id": [:], "n": 1]])
    }

    @Test func `a key of a sort that is there twice is refused`() {
        let twice = BSONDocument([("a", 1), ("b", 1), ("a", -1)])
        #expect(code([["$sort": .document(twice)]]) == 7_472_500)
        #expect(
            code([
                ["$setWindowFields": ["sortBy": .document(twice), "output": ["n": ["$rank": [:]]]]]
            ]) == 7_472_500)
    }

    @Test(arguments: ["$regexMatch", "$regexFind", "$regexFindAll"])
    func `an expression's pattern has a limit`(_ name: String) throws {
        func stage(_ count: Int) -> BSONDocument {
            let pattern = BSONValue.string(String(repeating: "w", count: count))
            return ["$project": ["r": [name: ["input": "$a", "regex": pattern]]]]
        }
        _ = try results([stage(16_384)], of: [["_id": 1, "a": "word"]])
        #expect(code([stage(16_385)]) == 51111)
    }

    @Test func `a decimal NaN keeps the sign of its text`() throws {
        func decimal(_ text: String) throws -> BSONValue? {
            try results([["$project": ["d": ["$toDecimal": .string(text)]]]], of: [["_id": 1]])
                .first?["d"]
        }
        #expect(try decimal("-NaN") == .decimal128(-.nan))
        #expect(try decimal("+nan") == .decimal128(.nan))
        #expect(try decimal("NaN") == .decimal128(.nan))
    }

    private func window(_ function: BSONValue) -> [BSONDocument] {
        [
            ["$setWindowFields": ["sortBy": ["x": 1], "output": ["y": function]]],
            ["$sort": ["x": 1]],
        ]
    }

    @Test func `a linear fill rounds as MongoDB does`() throws {
        let found = try results(
            window(["$linearFill": "$y"]),
            of: [
                ["_id": 1, "x": 0, "y": 0], ["_id": 2, "x": 3], ["_id": 3, "x": 10, "y": 1],
            ])
        #expect(found.map { $0["y"] } == [0, .double(0.30000000000000004), 1])
    }

    @Test(
        arguments: [
            [["_id": 1, "x": 1, "y": "text"]],
            [["_id": 1, "x": "text", "y": 1]],
            [["_id": 1, "y": 1]],
            [["_id": 1, "x": 1], ["_id": 2, "x": .datetime(BSONDatetime(milliseconds: 2))]],
        ] as [[BSONDocument]])
    func `a linear fill refuses what is no place on a line`(_ documents: [BSONDocument]) {
        #expect(code(window(["$linearFill": "$y"]), of: documents) == 14)
    }

    @Test func `a shift gives its default for a missing value, too`() throws {
        let found = try results(
            window(["$shift": ["output": "$z", "by": 1, "default": "none"]]),
            of: [["_id": 1, "x": 1, "z": 1], ["_id": 2, "x": 2], ["_id": 3, "x": 3, "z": 3]])
        #expect(found.map { $0["y"] } == ["none", 3, "none"])
    }

    @Test(arguments: ["$accumulator", "$_internalJsReduce", "$mergeObjects"])
    func `some accumulators are no window functions`(_ name: String) {
        #expect(code(window(.document([name: [:]]))) == 9)
    }

    @Test func `text search where it cannot be is refused`() {
        let match: BSONValue = ["$match": ["$text": ["$search": "word"]]]
        #expect(code([["$facet": ["f": [match]]]]) == 40600)
        #expect(
            code([
                [
                    "$lookup": [
                        "from": "things", "localField": "a", "foreignField": "a", "as": "b",
                        "pipeline": [match],
                    ]
                ]
            ]) == 2)
        #expect(code([graph("things", ["$text": ["$search": "word"]])]) == 2)
    }

    @Test func `a graph lookup needs the name of a collection`() {
        #expect(code([graph("", [:])]) == 73)
    }

    private func graph(_ from: BSONValue, _ restriction: BSONValue) -> BSONDocument {
        [
            "$graphLookup": [
                "from": from, "startWith": "$a", "connectFromField": "a", "connectToField": "a",
                "as": "b", "restrictSearchWithMatch": restriction,
            ]
        ]
    }
}
