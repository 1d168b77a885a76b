import BSONStore
import Testing

/// Without these a query on documents of many fields, or texts of many matches, would take minutes.
@Suite(.timeLimit(.minutes(30))) struct WideDocumentTests {
    private static let count = 10_000
    private static let names = (0..<count).map { "field\($0)" }

    private static func fields(_ value: (Int) -> BSONValue) -> BSONDocument {
        BSONDocument(names.indices.map { (names[$0], value($0)) })
    }

    private static let wide: BSONDocument = {
        var document: BSONDocument = ["_id": 1]
        for (index, name) in names.enumerated() { document.append(name, .int32(Int32(index))) }
        return document
    }()
    /// The fields of the other end first, so that no search finds the next field at once.
    private static let backwards = names.reversed()

    private func result(
        _ stage: BSONDocument, of document: BSONDocument = Self.wide
    ) throws -> BSONDocument {
        let store = try DocumentStore(at: .inMemory)
        let things = store.collection(Namespace("app", "things"))
        try things.insertOne(document)
        let found = try things.aggregate([stage])
        return try #require(found.first)
    }

    private static func choice(_ value: BSONValue) -> BSONDocument {
        BSONDocument(backwards.dropLast().map { ($0, value) })
    }

    @Test func `many fields are projected`() throws {
        let document = Self.wide
        let included = try Projection(Self.choice(1)).apply(to: document)
        #expect(included.count == Self.count)
        #expect(included["field0"] == nil)
        let excluded = try Projection(Self.choice(0)).apply(to: document)
        #expect(excluded == ["_id": 1, "field0": 0])
        let other = BSONDocument(Self.backwards.map { ("no\($0)", 1 as BSONValue) })
        #expect(try Projection(other).apply(to: document) == ["_id": 1])
        let copies = BSONDocument(Self.backwards.map { ("new.\($0)", .string("$\($0)")) })
        let computed = try Projection(copies).apply(to: document)
        #expect(computed[path: "new.field9999"] == 9999)
        let slices = BSONDocument(
            Self.backwards.map { ($0, ["$slice": 1] as BSONValue) })
        #expect(try Projection(slices).apply(to: document) == document)
    }

    @Test func `a projection chooses what it chooses among few fields`() throws {
        // The same fields, among many others that do not exist.
        let document = try BSONDocument(
            extendedJSON: #"{"_id":1,"a":{"b":1,"c":[{"d":1,"e":2},3]},"f":[1,2,3],"g":4}"#)
        for (json, value) in [
            (#"{"a.b":1,"a.c.e":1,"f":1}"#, 1), (#"{"a.b":0,"a.c.d":0,"g":0}"#, 0),
            (#"{"a":{"x":"$g","c":1},"h":"$f"}"#, 1), (#"{"_id":0,"g":1}"#, 1),
            (#"{"_id":0,"a.c":0}"#, 0), (#"{"f":{"$slice":1},"a.c":{"$slice":-1}}"#, 0),
        ] {
            let few = try BSONDocument(extendedJSON: json)
            var many = few
            for index in 0..<40 { many.append("none.\(index)", .int32(Int32(value))) }
            #expect(
                try Projection(many).apply(to: document) == Projection(few).apply(to: document))
            guard !json.contains("$slice") else { continue }
            #expect(
                try result(["$project": .document(many)], of: document)
                    == result(["$project": .document(few)], of: document))
        }
    }

    @Test func `stages choose and compute many fields`() throws {
        #expect(try result(["$project": .document(Self.choice(1))]).count == Self.count)
        #expect(
            try result(["$project": .document(Self.choice(0))]) == ["_id": 1, "field0": 0])
        let unset = Self.backwards.dropLast().map { BSONValue.string($0) }
        #expect(try result(["$unset": .array(BSONArray(unset))]) == ["_id": 1, "field0": 0])
        let copies = BSONDocument(Self.backwards.map { ("new.\($0)", .string("$\($0)")) })
        let added = try result(["$addFields": .document(copies)])
        #expect(added[path: "new.field1234"] == 1234)
        var sums: BSONDocument = ["_id": .null]
        for name in Self.backwards { sums.append(name, ["$sum": .string("$\(name)")]) }
        let grouped = try result(["$group": .document(sums)])
        #expect(grouped["field1234"] == 1234)
        let all = BSONArray(Self.backwards.map { .string("$$ROOT.\($0)") })
        #expect(
            try result(["$project": ["sum": ["$sum": .array(all)]]])["sum"]
                == .int32(Int32(Self.count * (Self.count - 1) / 2)))
        let filled = BSONDocument(
            Self.backwards.map { ("new\($0)", ["value": 1] as BSONValue) })
        #expect(try result(["$fill": ["output": .document(filled)]]).count == 2 * Self.count + 1)
    }

    @Test func `many paths of a window do not clash`() throws {
        let output = BSONDocument(
            (0..<2_000).map { ("new.\($0)", ["$documentNumber": [:]] as BSONValue) })
        let stage: BSONDocument = [
            "$setWindowFields": ["sortBy": ["_id": 1], "output": .document(output)]
        ]
        let found = try result(stage, of: ["_id": 1])
        #expect(found["new"]?.documentValue?.count == 2_000)
        #expect(throws: StoreError.self) {
            try result(
                [
                    "$setWindowFields": [
                        "sortBy": ["_id": 1],
                        "output": ["a.b": ["$documentNumber": [:]], "a": ["$documentNumber": [:]]],
                    ]
                ], of: ["_id": 1])
        }
    }

    @Test func `many documents are merged`() throws {
        let singles = BSONArray(
            Self.backwards.map { ["$literal": .document(["new\($0)": 1])] as BSONValue })
        let merged = try result(["$replaceWith": ["$mergeObjects": .array(singles)]])
        #expect(merged.count == Self.count)
        let literal: BSONValue = ["$literal": .document(Self.fields { _ in "x" })]
        let both = try result(["$replaceWith": ["$mergeObjects": ["$$ROOT", literal]]])
        #expect(both["field9999"] == "x")
        #expect(both.count == Self.count + 1)
    }

    @Test func `an addition of many paths refuses two that collide`() throws {
        for (paths, clash) in [
            (["z", "a.b", "a.c", "a"], "a.b"), (["z", "a", "a.b.c"], "a"), (["z", "a", "a"], "a"),
        ] {
            let addition = BSONDocument(paths.map { ($0, 1 as BSONValue) })
            let error = #expect(throws: StoreError.self) {
                try result(["$addFields": .document(addition)], of: ["_id": 1])
            }
            #expect(error?.code.rawValue == 40176)
            #expect(error?.message.contains("and '\(clash)'") == true, "\(error?.message ?? "")")
        }
    }

    @Test func `a text has many matches`() throws {
        let text = String(repeating: "ab ", count: 60_000)
        let document: BSONDocument = ["_id": 1, "text": .string(text)]
        let found = try result(
            [
                "$project": [
                    "n": [
                        "$size": ["$regexFindAll": ["input": "$text", "regex": "(a)b"]]
                    ]
                ]
            ], of: document)
        #expect(found["n"] == 60_000)
        let parts = try result(
            ["$project": ["n": ["$size": ["$split": ["$text", " "]]]]], of: document)
        #expect(parts["n"] == 60_001)
        let replaced = try result(
            [
                "$project": [
                    "text": [
                        "$replaceAll": ["input": "$text", "find": "ab", "replacement": "c"]
                    ]
                ]
            ], of: document)
        #expect(replaced["text"] == .string(String(repeating: "c ", count: 60_000)))
    }

    @Test func `a search for a text that nearly occurs everywhere ends`() throws {
        let text = String(repeating: "a", count: 200_000)
        let token = String(repeating: "a", count: 20_000) + "b"
        let document: BSONDocument = ["_id": 1, "text": .string(text + token + "a")]
        let found = try result(
            [
                "$project": [
                    "bytes": ["$indexOfBytes": ["$text", .string(token)]],
                    "points": ["$indexOfCP": ["$text", .string(token)]],
                    "none": ["$indexOfCP": ["$text", .string(token), 0, 1_000]],
                    "parts": ["$size": ["$split": ["$text", .string(token)]]],
                ]
            ], of: document)
        #expect(found["bytes"] == 200_000)
        #expect(found["points"] == 200_000)
        #expect(found["none"] == -1)
        #expect(found["parts"] == 2)
        // A pattern has at most 16,384 bytes.
        let filter = try Filter(["text": ["$regex": .string(String(token.suffix(16_384)))]])
        #expect(filter.matches(document))
        #expect(!filter.matches(["text": .string(text)]))
    }

    @Test func `an array grows in many steps`() throws {
        let list = BSONArray((0..<20_000).map { .int32($0) })
        func reduced(_ initial: BSONValue, _ step: BSONValue) throws -> BSONValue? {
            let reduce: BSONValue = ["input": "$list", "initialValue": initial, "in": step]
            let document: BSONDocument = ["_id": 1, "list": .array(list)]
            return try result(["$project": ["list": ["$reduce": reduce]]], of: document)["list"]
        }
        let step: BSONValue = ["$concatArrays": ["$$value", ["$$this"]]]
        #expect(try reduced([], step) == .array(list))
        #expect(try reduced(.null, step) == .null)
        #expect(try reduced([], ["$concatArrays": ["$$value", "$none"]]) == .null)
        #expect(throws: StoreError.self) { try reduced([], ["$concatArrays": ["$$value", 1]]) }
    }

    @Test func `many conditions are tested`() throws {
        let conditions = BSONDocument(
            Self.names.indices.reversed().map { (Self.names[$0], BSONValue.int32(Int32($0))) })
        #expect(try Filter(conditions).matches(Self.wide))
        #expect(try !Filter(conditions).matches(["_id": 1]))
        let nested = BSONDocument(conditions.map { ("in.\($0.key)", $0.value) })
        #expect(try Filter(nested).matches(["in": .document(Self.wide)]))
        let few = try Filter(BSONDocument(nested.map { ($0.key, $0.value) }.prefix(50)))
        #expect(few.matches(["in": [1, .document(Self.wide)]]))
        #expect(!few.matches(["in": [["field77": 77]]]))
        #expect(!few.matches(["in": 1]))
        let none = BSONArray(Self.names.map { .document([$0: "no"]) })
        #expect(try !Filter(["$or": .array(none)]).matches(Self.wide))
        let values = BSONArray((0..<Self.count).map { .int32(Int32($0)) })
        let shuffled = BSONArray(values.values.reversed())
        #expect(
            try Filter(["list": ["$all": .array(values)]]).matches(["list": .array(shuffled)]))
        #expect(
            try !Filter(["list": ["$all": .array(values)]]).matches([
                "list": .array(BSONArray(shuffled.values.dropLast()))
            ]))
    }

    @Test func `a schema has many properties`() throws {
        let document = Self.wide
        let type: BSONValue = ["bsonType": ["int", "double"]]
        let properties = BSONDocument(Self.backwards.map { ($0, type) })
        let required = BSONArray(Self.backwards.map { .string($0) })
        let schema: BSONDocument = [
            "properties": .document(properties), "required": .array(required),
            "patternProperties": ["^_id$": [:]], "additionalProperties": false,
        ]
        let filter = try Filter(["$jsonSchema": .document(schema)])
        #expect(filter.matches(document))
        var wrong = document
        wrong.append("other", 1)
        #expect(!filter.matches(wrong))
        wrong = document
        wrong.set("field77", to: "text")
        #expect(!filter.matches(wrong))
        wrong.set("field77", to: nil)
        #expect(!filter.matches(wrong))
    }
}
