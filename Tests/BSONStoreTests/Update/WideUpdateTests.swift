import BSONStore
import Testing

/// Without these an update of many fields would take minutes, in which nobody else can write.
@Suite(.timeLimit(.minutes(20))) struct WideUpdateTests {
    private static let count = 20_000
    private static let names = (0..<count).map { "field\($0)" }

    private static func fields(_ value: (Int) -> BSONValue) -> BSONDocument {
        BSONDocument(names.indices.map { (names[$0], value($0)) })
    }

    private static let numbers = fields { .int32(Int32($0)) }

    private static func result(
        _ update: BSONDocument, of before: BSONDocument
    ) throws -> BSONDocument? {
        try Update(update).apply(to: before)
    }

    @Test func `many fields are set`() throws {
        let texts = Self.fields { .string("text \($0)") }
        #expect(try Self.result(["$set": .document(texts)], of: Self.numbers) == texts)
        let made = try Self.result(["$set": .document(texts)], of: ["_id": 1])
        #expect(made?.count == Self.count + 1)
        #expect(made?["field19999"] == "text 19999")
        // New fields are in the order of their names.
        #expect(made?.keys[3] == "field10")
    }

    @Test func `many numbers grow`() throws {
        let ones = Self.fields { _ in 1 }
        let expected = Self.fields { .int32(Int32($0) + 1) }
        #expect(try Self.result(["$inc": .document(ones)], of: Self.numbers) == expected)
    }

    @Test func `many fields are removed, below a field, too`() throws {
        let all = Self.fields { _ in "" }
        #expect(try Self.result(["$unset": .document(all)], of: Self.numbers) == [:])
        let nested = BSONDocument(Self.names.map { ("list.\($0)", "" as BSONValue) })
        #expect(try Self.result(["$unset": .document(nested)], of: ["list": [1, 2]]) == nil)
    }

    @Test func `many fields are renamed, at the top and below a field`() throws {
        let renames = BSONDocument(Self.names.map { ($0, .string("new.\($0)")) })
        let after = try Self.result(["$rename": .document(renames)], of: Self.numbers)
        #expect(after?.keys == ["new"])
        #expect(after?[path: "new.field777"] == 777)
        let back = BSONDocument(Self.names.map { ("new.\($0)", .string($0)) })
        let again = try Self.result(["$rename": .document(back)], of: after ?? [:])
        #expect(again?.count == Self.count + 1)
        #expect(again?["field777"] == 777)
    }

    @Test func `an upsert makes many fields`() throws {
        let update = try Update(["$setOnInsert": .document(Self.numbers)])
        let equalities = BSONDocument(Self.names.map { ("by.\($0)", 1 as BSONValue) })
        let made = try update.insertion(for: try Filter(equalities))
        #expect(made.count == Self.count + 1)
        #expect(made["by"]?.documentValue?.count == Self.count)
    }

    @Test func `many positions of an array are set`() throws {
        let positions = BSONDocument(
            (0..<Self.count).map { ("list.\($0)", .int32(Int32($0))) })
        let after = try Self.result(["$set": .document(positions)], of: ["list": []])
        #expect(after?["list"]?.arrayValue?.values == (0..<Self.count).map { .int32(Int32($0)) })
    }

    @Test func `many operators meet at an element`() throws {
        let update = BSONDocument(
            Self.names.enumerated().map { index, name in
                ("list.$[x\(index % 2)].\(name)", .int32(Int32(index)))
            })
        let after = try Update(
            ["$set": .document(update)], arrayFilters: [["x0.a": 1], ["x1.a": 1]]
        ).apply(to: ["list": [["a": 1]]])
        #expect(after?[path: "list.0"]?.documentValue?.count == Self.count + 1)
        #expect(after?[path: "list.0.field19999"] == 19999)
    }

    @Test func `many values are removed from an array`() throws {
        let values = (0..<Self.count).map { BSONValue.int32(Int32($0)) }
        let doubles = (0..<Self.count - 1).map { BSONValue.double(Double($0)) }
        let after = try Self.result(
            ["$pullAll": ["list": .array(BSONArray(doubles))]],
            of: ["list": .array(BSONArray(values))])
        #expect(after == ["list": [19999]])
        let collation = try Collation(["locale": "en", "strength": 2])
        let folded = try Update(["$pullAll": ["list": ["B", 2]]], collation: collation)
            .apply(to: ["list": ["a", "b", 2.0, "B", 3]])
        #expect(folded == ["list": ["a", 3]])
    }

    @Test func `a difference in many fields is found and applied`() throws {
        let texts = Self.fields { .string("text \($0)") }
        let reversed = BSONDocument(Self.numbers.map { ($0.key, $0.value) }.reversed())
        let pairs: [(BSONDocument, BSONDocument)] = [
            (Self.numbers, texts), (Self.numbers, [:]), ([:], Self.numbers), (reversed, texts),
        ]
        for (before, after) in pairs {
            let difference = try #require(UpdateDescription.difference(from: before, to: after))
            #expect(try difference.apply(to: before).contentEquals(after))
        }
        let list: BSONDocument = ["list": .array(BSONArray(Self.numbers.map(\.value)))]
        let longer: BSONDocument = [
            "list": .array(BSONArray(Self.numbers.map { .string("\($0.key)") }))
        ]
        let split = try #require(
            UpdateDescription.difference(from: list, to: longer, splittingArrays: true))
        #expect(try split.apply(to: list) == longer)
    }

    @Test func `fields in another order at every depth are compared once`() throws {
        var (before, after): (BSONDocument, BSONDocument) = (["n": 1], ["n": 2])
        for _ in 0..<60 {
            before = ["inner": .document(before), "x": 1, "y": 2]
            after = ["inner": .document(after), "y": 2, "x": 1]
        }
        let difference = try #require(UpdateDescription.difference(from: before, to: after))
        #expect(difference.paths == [String(repeating: "inner.", count: 60) + "n"])
    }
}
