import BSONStore

/// Updates of one document that grow with its fields, its elements and their own values.
enum UpdateRoads {
    private static func update(
        _ name: String, _ growth: Road.Growth, upTo: Int = 16_000, arrayFilters: Bool = false,
        _ document: @escaping (Int) -> BSONDocument, _ update: @escaping (Int) -> BSONDocument
    ) -> Road {
        Road(once: "update: \(name)", growth, upTo: upTo) { n in
            let items = try await Sample.collection([document(n)])
            let update = update(n)
            return Trip { try await items.updateOne(["_id": 1], update) }
        }
    }

    /// An operator with an operand for each of n fields.
    private static func fields(
        _ name: String, _ value: @escaping (Int) -> BSONValue = { .int($0 + 1) },
        _ operand: @escaping (Int) -> BSONValue
    ) -> Road {
        update(name + " of fields", .fields, { Sample.wide($0, value) }) { n in
            [name: .document(Sample.fields(n, operand))]
        }
    }

    private static func pipeline(
        _ name: String, _ growth: Road.Growth = .fields, _ stage: @escaping (Int) -> BSONDocument
    ) -> Road {
        Road(once: "update: pipeline \(name)", growth, upTo: 16_000) { n in
            let items = try await Sample.collection([Sample.wide(n)])
            let writes = [BulkWrite.updateOne(["_id": 1], [.document(stage(n))])]
            return Trip { try await items.bulkWrite(writes) }
        }
    }

    /// The roads.
    static var all: [Road] { operators + arrays + whole }

    private static var operators: [Road] {
        [
            fields("$set") { .int(-$0) },
            update("$set of new fields", .fields, { _ in ["_id": 1] }) {
                ["$set": .document(Sample.fields($0))]
            },
            update("$set of new nested fields", .fields, { _ in ["_id": 1] }) { n in
                ["$set": .document(BSONDocument(Sample.names(n).map { ("a.\($0)", 1) }))]
            },
            update("$set in documents of their own", .fields, { _ in ["_id": 1] }) { n in
                ["$set": .document(BSONDocument(Sample.names(n).map { ("\($0).a", 1) }))]
            },
            update("$set of one field of many", .fields, upTo: 64_000, { Sample.wide($0) }) {
                ["$set": ["f\($0 / 2)": "x"]]
            },
            fields("$inc") { _ in 1 },
            fields("$mul") { _ in 2 },
            fields("$min") { _ in -1 },
            fields("$max") { _ in 1_000_000 },
            fields("$unset") { _ in "" },
            update("$rename of fields", .fields, { Sample.wide($0) }) { n in
                ["$rename": .document(Sample.fields(n) { .string("g\($0)") })]
            },
            fields("$currentDate") { _ in true },
            fields("$bit") { _ in ["and": 1] },
            Road(once: "update: $setOnInsert of fields", .fields, upTo: 16_000) { n in
                let items = try await Sample.collection()
                let update: BSONDocument = ["$setOnInsert": .document(Sample.fields(n))]
                return Trip { try await items.updateOne(["_id": 1], update, upsert: true) }
            },
            Road(once: "update: upsert of a filter of fields", .fields, upTo: 8_000) { n in
                let (items, filter) = (try await Sample.collection(), Sample.fields(n))
                return Trip { try await items.updateOne(filter, ["$set": ["x": 1]], upsert: true) }
            },
            Road(once: "update: $set of fields, history kept", .fields, upTo: 16_000) { n in
                let items = try Sample.store(history: 1_000).collection(Sample.namespace)
                try await items.insertOne(Sample.wide(n))
                let update: BSONDocument = ["$set": .document(Sample.fields(n) { .int(-$0) })]
                return Trip { try await items.updateOne(["_id": 1], update) }
            },
        ]
    }

    private static func array(_ n: Int) -> BSONDocument { ["_id": 1, "a": Sample.array(n)] }
    private static func lines(_ n: Int) -> BSONDocument {
        ["_id": 1, "a": Sample.array(n) { ["b": .int($0), "c": 1] }]
    }

    private static var arrays: [Road] {
        [
            update("$push $each", .elements, upTo: 64_000, array) {
                ["$push": ["a": ["$each": Sample.array($0)]]]
            },
            update("$push of one to many", .elements, upTo: 64_000, array) { _ in
                ["$push": ["a": 1]]
            },
            update("$push with $sort and $slice", .elements, upTo: 32_000, array) { n in
                [
                    "$push": [
                        "a": ["$each": Sample.array(n), "$sort": -1, "$slice": .int(n)]
                    ]
                ]
            },
            update("$push at a position", .elements, upTo: 64_000, array) {
                ["$push": ["a": ["$each": Sample.array($0), "$position": 0]]]
            },
            update("$push with $sort by a field", .elements, upTo: 32_000, lines) { _ in
                ["$push": ["a": ["$each": [["b": 5]], "$sort": ["b": -1]]]]
            },
            update("$addToSet $each, all new", .elements, upTo: 32_000, array) { n in
                ["$addToSet": ["a": ["$each": Sample.array(n) { .int($0 + n) }]]]
            },
            update("$addToSet $each, none new", .elements, upTo: 32_000, array) {
                ["$addToSet": ["a": ["$each": Sample.array($0)]]]
            },
            update("$addToSet $each of documents", .elements, lines) { n in
                ["$addToSet": ["a": ["$each": Sample.array(n) { ["b": .int($0 + n)] }]]]
            },
            update("$pull by a condition", .elements, upTo: 32_000, array) {
                ["$pull": ["a": ["$gte": .int($0 / 2)]]]
            },
            update("$pull of documents", .elements, lines) {
                ["$pull": ["a": ["b": ["$gte": .int($0 / 2)]]]]
            },
            update("$pull with $in", .elements, array) {
                ["$pull": ["a": ["$in": Sample.array($0)]]]
            },
            update("$pullAll", .elements, array) { ["$pullAll": ["a": Sample.array($0)]] },
            update("$pop", .elements, upTo: 64_000, array) { _ in ["$pop": ["a": -1]] },
            update("$[] of all elements", .elements, array) { _ in ["$inc": ["a.$[]": 1]] },
            update("$[] in documents", .elements, lines) { _ in ["$inc": ["a.$[].b": 1]] },
            update("$set of elements by index", .elements, array) { n in
                ["$set": .document(BSONDocument((0..<n).map { ("a.\($0)", -1) }))]
            },
            update("$set of a field of elements", .elements, lines) { n in
                ["$set": .document(BSONDocument((0..<n).map { ("a.\($0).b", -1) }))]
            },
            update("$set of one element of many", .elements, upTo: 64_000, lines) {
                ["$set": ["a.\($0 - 1).b": -1]]
            },
            Road(once: "update: $[x] with an array filter", .elements, upTo: 16_000) { n in
                let items = try await Sample.collection([lines(n)])
                return Trip {
                    try await items.updateOne(
                        ["_id": 1], ["$set": ["a.$[x].c": 2]],
                        arrayFilters: [["x.b": ["$gte": 0]]])
                }
            },
            Road(once: "update: positional $", .elements, upTo: 32_000) { n in
                let items = try await Sample.collection([lines(n)])
                return Trip {
                    try await items.updateOne(["a.b": .int(n - 1)], ["$set": ["a.$.c": 2]])
                }
            },
            Road(once: "update: $[x] with many values in its filter", .values, upTo: 8_000) { n in
                let items = try await Sample.collection([lines(n)])
                return Trip {
                    try await items.updateOne(
                        ["_id": 1], ["$set": ["a.$[x].c": 2]],
                        arrayFilters: [["x.b": ["$in": Sample.array(n)]]])
                }
            },
        ]
    }

    private static var whole: [Road] {
        [
            pipeline("$set of fields") { ["$set": .document(Sample.fields($0) { _ in 7 })] },
            pipeline("$set of new fields") { n in
                ["$set": .document(BSONDocument(Sample.names(n).map { ("new\($0)", 7) }))]
            },
            pipeline("$unset of fields") { n in
                ["$unset": Sample.array(n) { .string("f\($0)") }]
            },
            pipeline("$replaceWith") { _ in
                ["$replaceWith": ["$mergeObjects": ["$$ROOT", ["x": 1]]]]
            },
            Road(once: "update: replaceOne of a wide document", .fields, upTo: 64_000) { n in
                let items = try await Sample.collection([Sample.wide(n)])
                let document = Sample.wide(n) { .int(-$0) }
                return Trip { try await items.replaceOne(["_id": 1], document) }
            },
            Road(once: "update: insertOne of a wide document", .fields, upTo: 64_000) { n in
                let items = try await Sample.collection()
                let document = Sample.wide(n)
                return Trip { try await items.insertOne(document) }
            },
            Road(once: "update: insertOne under a $jsonSchema", .fields, upTo: 8_000) { n in
                let store = try Sample.store()
                let document = Sample.wide(n) { .int32(Int32($0)) }
                let properties = Sample.fields(n) { _ in ["bsonType": "int"] }
                try store.createCollection(
                    Sample.namespace,
                    ["validator": ["$jsonSchema": ["properties": .document(properties)]]])
                let items = store.collection(Sample.namespace)
                return Trip { try await items.insertOne(document) }
            },
        ]
    }
}
