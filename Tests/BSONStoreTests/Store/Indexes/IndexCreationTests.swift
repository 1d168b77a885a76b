import Testing

@testable import BSONCore
@testable import BSONStore

/// An index that MongoDB refuses would be made here, and be missing after a move to MongoDB.
struct IndexCreationTests {
    private static let items = Namespace("shop", "items")

    private func error(
        _ specification: BSONDocument, _ options: BSONDocument = [:]
    ) throws -> StoreError? {
        let store = try DocumentStore(at: .inMemory)
        return try store.write { transaction in
            try transaction.createCollection(Self.items, try CollectionOptions(options))
            do {
                try transaction.createIndex(Self.items, try IndexDefinition(specification))
                return nil
            } catch let error as StoreError {
                return error
            }
        }
    }

    /// The server's `jstests/core/index_signature.js`: equivalent filters and projections are the
    /// same index, and weights are compared as numbers.
    @Test(
        "an index is the same however its options are written",
        arguments: [
            (
                [
                    "key": ["a": 1],
                    "partialFilterExpression": ["a": ["$gt": 0, "$lt": 10], "b": "x"],
                ],
                [
                    "key": ["a": 1],
                    "partialFilterExpression": [
                        "$and": [["b": "x"], ["a": ["$lt": 10.0]], ["a": ["$gt": 0.0]]]
                    ],
                ], true
            ),
            (
                ["key": ["a": 1], "partialFilterExpression": ["a": ["$in": [1, 2]]]],
                ["key": ["a": 1], "partialFilterExpression": ["a": ["$in": [1.0, 2.0]]]], true
            ),
            (
                ["key": ["a": 1], "partialFilterExpression": ["$or": [["a": 1], ["b": 2]]]],
                ["key": ["a": 1], "partialFilterExpression": ["$or": [["b": 2.0], ["a": 1.0]]]],
                true
            ),
            (
                ["key": ["a": 1], "partialFilterExpression": ["a": ["$gt": 1]]],
                ["key": ["a": 1], "partialFilterExpression": ["a": ["$gt": 2]]], false
            ),
            (
                ["key": ["a": 1], "partialFilterExpression": ["a": ["$gt": 1]]],
                ["key": ["a": 1], "partialFilterExpression": ["a": ["$gte": 1]]], false
            ),
            (
                ["key": ["a": 1], "partialFilterExpression": ["b": "x"]],
                ["key": ["a": 1], "partialFilterExpression": ["b": "X"]], false
            ),
            (
                ["key": ["$**": 1], "wildcardProjection": ["a": ["b": 1, "c": 1]]],
                ["key": ["$**": 1], "wildcardProjection": ["a.c": 1.0, "_id": 0, "a.b": true]],
                true
            ),
            (
                ["key": ["$**": 1], "wildcardProjection": ["a": 1]],
                ["key": ["$**": 1], "wildcardProjection": ["a": 1, "_id": 1]], false
            ),
            (
                ["key": ["a": "text", "b": "text"], "weights": ["a": 2, "b": 3]],
                ["key": ["a": "text", "b": "text"], "weights": ["b": 3.0, "a": 2.0]], true
            ),
        ] as [(BSONDocument, BSONDocument, Bool)])
    func sameIndex(first: BSONDocument, second: BSONDocument, isSame: Bool) throws {
        let items = try DocumentStore(at: .inMemory).collection(Self.items)
        func create(_ specification: BSONDocument, named name: String) throws {
            try items.store.write { transaction in
                var specification = specification
                specification.append("name", .string(name))
                try transaction.createIndex(Self.items, try IndexDefinition(specification))
            }
        }
        try create(first, named: "i")
        if isSame {
            try create(second, named: "i")
            let error = #expect(throws: StoreError.self) { try create(second, named: "j") }
            #expect(error?.code.rawValue == 85)
        } else {
            let error = #expect(throws: StoreError.self) { try create(second, named: "i") }
            #expect(error?.code.rawValue == 86)
            try create(second, named: "j")
        }
        #expect(try items.listIndexes().count == (isSame ? 2 : 3))
    }

    @Test(
        "a filter of a partial index compares, and nothing else",
        arguments: [
            (["a": ["$ne": 1]], "$not\n    a $eq 1\n"),
            (["a": ["$nin": [1]]], "$not\n    a $in [ 1 ]\n"),
            (["a": ["$exists": false]], "$not\n    a exists\n"),
            (["a": ["$not": ["$gt": 1]]], "$not\n    $and\n        a $gt 1\n"),
            (["a": ["$regex": "x"]], "a regex /x/\n"),
            (["a": ["$size": 2]], "a $size : 2\n"),
            (["a": ["$mod": [2, 1]]], "a mod 2 % x == 1\n"),
            (["$nor": [["a": 1]]], "$nor\n    a $eq 1\n"),
            (["$or": [["b": 1], ["a": ["$ne": 1]]]], "$not\n    a $eq 1\n"),
        ] as [(BSONDocument, String)])
    func partialFilters(filter: BSONDocument, text: String) throws {
        let found = try error(
            ["key": ["a": 1], "name": "a", "partialFilterExpression": .document(filter)])
        #expect(found?.code == .cannotCreateIndex)
        #expect(
            found?.message.hasSuffix(
                ", v: 2 } :: caused by :: Expression not supported in partial index: \(text)")
                == true)
    }

    @Test(
        "what concerns whole documents is refused in a partial index with its own code",
        arguments: [
            (["$expr": true], 224, "$expr"), (["$jsonSchema": [:]], 224, "$jsonSchema"),
            (["$where": "1"], 2, "$where"), (["$text": ["$search": "x"]], 2, "$text"),
            (["$and": [["$expr": true]]], 224, "$expr"),
        ] as [(BSONDocument, Int32, String)])
    func contexts(filter: BSONDocument, code: Int32, name: String) throws {
        let found = try error(
            ["key": ["a": 1], "name": "a", "partialFilterExpression": .document(filter)])
        #expect(found?.code.rawValue == code)
        #expect(found?.message.hasSuffix("\(name) is not allowed in this context") == true)
    }

    @Test(
        "filters that an index can have are taken",
        arguments: [
            ["a": 1], ["a": .null], ["a": ["$gte": 1, "$lt": 9]], ["a": ["$in": [1, 2]]],
            ["a": ["$exists": true]], ["a": ["$type": "int"]], ["$or": [["a": 1], ["b": 2]]],
            ["$and": [["a": 1], ["$and": [["b": 2]]]]], [:],
        ] as [BSONDocument])
    func taken(filter: BSONDocument) throws {
        let specification: BSONDocument = [
            "key": ["a": 1], "name": "a", "partialFilterExpression": .document(filter),
        ]
        #expect(try error(specification) == nil)
    }

    @Test(
        "the index of the _id has no options",
        arguments: [
            (["unique": true], 197), (["sparse": true], 197), (["expireAfterSeconds": 1], 197),
            (["partialFilterExpression": ["a": 1]], 197), (["hidden": true], 2), ([:], nil),
        ] as [(BSONDocument, Int32?)])
    func ids(options: BSONDocument, code: Int32?) throws {
        var specification: BSONDocument = ["key": ["_id": 1], "name": "_id_"]
        for (key, value) in options { specification.append(key, value) }
        #expect(try error(specification)?.code.rawValue == code)
    }

    @Test(
        "other options that no index has are refused",
        arguments: [
            (["key": ["_id": -1], "name": "x"], 2, "must be {_id: 1}, but got { _id: -1 }"),
            (["key": ["a": 1], "name": "*"], 2, "The index name '*' is not valid."),
            (["key": ["a": 1], "name": "a", "v": 3], 67, "cannot create an index with v=3"),
            (["key": ["a": 1], "name": "a", "v": "2"], 14, "must be a number, but got string"),
            (["key": ["a": 1], "name": "a", "weights": ["a": 1]], 67, "with text indexes"),
            (["key": ["$**": 1, "b": 1], "name": "a"], 67, "'wildcardProjection' option"),
            (
                ["key": ["$**": 1], "name": "a", "wildcardProjection": ["a": 1, "b": 0]], 31254,
                "Cannot do exclusion on field b in inclusion projection"
            ),
            (
                ["key": ["a": "text"], "name": "a", "default_language": "klingon"], 67,
                "default_language is not valid"
            ),
            (
                [
                    "key": ["a": 1], "name": "a", "sparse": true,
                    "partialFilterExpression": ["a": ["$gt": 0]],
                ], 67, "cannot mix \"partialFilterExpression\" and \"sparse\" options"
            ),
            (["key": ["a": "2d"], "name": "a", "bits": 33], 72, "but 33 bits were specified"),
            (["key": ["a": "2d"], "name": "a", "min": 5, "max": 1], 72, "[5, 1] was specified"),
        ] as [(BSONDocument, Int32, String)])
    func others(specification: BSONDocument, code: Int32, text: String) throws {
        let found = try error(specification)
        #expect(found?.code.rawValue == code)
        #expect(found?.message.hasSuffix(text) == true)
    }

    @Test("documents of a capped collection have no time to go")
    func capped() throws {
        let found = try error(
            ["key": ["t": 1], "name": "t", "expireAfterSeconds": 5],
            ["capped": true, "size": 4096])
        #expect(found?.code == .cannotCreateIndex)
    }

    @Test("an index of version 1 has no collation")
    func versionOne() throws {
        let definition = try IndexDefinition(["key": ["a": 1], "v": 1])
        #expect(try definition.inheriting(["locale": "fr_CA"]).collation == nil)
        let newer = try IndexDefinition(["key": ["a": 1], "v": 2])
        #expect(try newer.inheriting(["locale": "fr_CA"]).collation != nil)
    }

    @Test("an index that an earlier version made is still read")
    func earlier() throws {
        #expect(
            try IndexDefinition([
                "key": ["a": 1], "sparse": true, "partialFilterExpression": ["a": 1],
            ]).isSparse)
        let definition = try IndexDefinition([
            "key": ["a": 1], "partialFilterExpression": ["a": ["$ne": 1]],
        ])
        #expect(definition.partialFilter == ["a": ["$ne": 1]])
    }

    @Test(
        "a wildcard stands once, at the end of a path",
        arguments: ["$**.$**", "a.$**.$**", "$**.a", "a.$**.b", "$a.$**"])
    func wildcards(path: String) throws {
        let found = try error([
            "key": .document(BSONDocument([(path, BSONValue.int32(1))])), "name": "w",
        ])
        #expect(found?.code == .cannotCreateIndex)
    }

    @Test("an index is not made again as a hidden one, nor a hidden one as another")
    func hiddenTwins() throws {
        let store = try DocumentStore(at: .inMemory)
        let items = store.collection(Self.items)
        try items.createIndex(["a": 1])
        try items.createIndex(["b": 1], ["hidden": true])
        for (key, isHidden) in [("a", true), ("b", false)] {
            let found = #expect(throws: StoreError.self) {
                try items.createIndex([key: 1], ["hidden": .bool(isHidden)])
            }
            #expect(found?.code == .indexOptionsConflict)
            try items.createIndex([key: 1], ["hidden": .bool(!isHidden)])
        }
    }

    @Test("a text search does not use a hidden index")
    func hiddenTexts() throws {
        let store = try DocumentStore(at: .inMemory)
        let items = store.collection(Self.items)
        try items.insertOne(["_id": 1, "t": "hello world"])
        try items.createIndex(["t": "text"], ["hidden": true])
        let filter: BSONDocument = ["$text": ["$search": "hello"]]
        let found = #expect(throws: StoreError.self) { try items.find(filter).first() }
        #expect(found?.code.rawValue == 291)
        let other = #expect(throws: StoreError.self) {
            try items.aggregate([["$match": .document(filter)]])
        }
        #expect(other?.code.rawValue == 291)
    }
}
