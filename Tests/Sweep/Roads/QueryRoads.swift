import BSONStore

/// Filters and projections that grow, over the same documents.
enum QueryRoads {
    /// Filters over 100 small documents.
    private static func filter(
        _ name: String, _ growth: Road.Growth, upTo: Int = 16_000, reason: String? = nil,
        _ filter: @escaping (Int) -> BSONDocument
    ) -> Road {
        Road("filter: \(name)", growth, upTo: upTo, reason: reason) { n in
            let items = try await Sample.collection(Sample.documents(100))
            let filter = filter(n)
            return Trip { try items.find(filter).fetch() }
        }
    }

    /// A filter and a projection over one large document.
    private static func one(
        _ name: String, _ growth: Road.Growth, upTo: Int = 32_000, reason: String? = nil,
        _ document: @escaping (Int) -> BSONDocument,
        _ filter: @escaping (Int) -> BSONDocument = { _ in [:] },
        _ projection: ((Int) -> BSONDocument)? = nil
    ) -> Road {
        Road(name, growth, upTo: upTo, reason: reason) { n in
            let items = try await Sample.collection([document(n)])
            let (filter, projection) = (filter(n), projection?(n))
            return Trip {
                try items.find(filter).project(projection ?? [:]).fetch()
            }
        }
    }

    /// The roads.
    static var all: [Road] { filters + documents + projections }

    private static var filters: [Road] {
        [
            filter("$in", .values) { ["n": ["$in": Sample.array($0)]] },
            filter("$nin", .values) { ["n": ["$nin": Sample.array($0)]] },
            filter("$in of texts", .values) { n in
                ["text": ["$in": Sample.array(n) { .string("item \($0)") }]]
            },
            filter("$in of regular expressions", .values, upTo: 2_000) { n in
                let patterns = Sample.array(n) {
                    .regularExpression(.init("x\($0)$"))
                }
                return ["text": ["$in": patterns]]
            },
            filter("$or", .branches, upTo: 8_000) { n in
                ["$or": Sample.array(n) { ["n": .int(-$0)] }]
            },
            filter("$and", .branches, upTo: 8_000) { n in
                ["$and": Sample.array(n) { ["n": ["$ne": .int(-$0 - 1)]] }]
            },
            filter("$nor", .branches, upTo: 8_000) { n in
                ["$nor": Sample.array(n) { ["n": .int(-$0 - 1)] }]
            },
            filter("conditions of many fields", .fields, upTo: 8_000) { n in
                BSONDocument(Sample.names(n).map { ($0, BSONValue.null) })
            },
            filter("$expr with $in", .values, upTo: 8_000) { n in
                ["$expr": ["$in": ["$n", Sample.array(n)]]]
            },
            filter("$expr with $add", .branches, upTo: 4_000) { n in
                ["$expr": ["$gt": [["$add": Sample.array(n) { _ in "$n" }], 0]]]
            },
            filter("$regex alternation", .branches, upTo: 2_000) { n in
                ["text": ["$regex": .string((0..<n).map { "x\($0)" }.joined(separator: "|"))]]
            },
            filter("$geoWithin a polygon", .corners, upTo: 2_000) { n in
                ["at": ["$geoWithin": ["$geometry": .document(Sample.polygon(n))]]]
            },
            Road("filter: nested $and", .depth, from: 5, upTo: 40) { n in
                let items = try await Sample.collection(Sample.documents(100))
                let filter = (0..<n).reduce(["n": 1] as BSONDocument) { inner, _ in
                    ["$and": [.document(inner)]]
                }
                return Trip { try items.find(filter).fetch() }
            },
        ]
    }

    private static var documents: [Road] {
        [
            one(
                "document: $all", .values, upTo: 16_000,
                { ["_id": 1, "a": Sample.array($0)] }, { ["a": ["$all": Sample.array($0)]] }),
            one(
                "document: $elemMatch", .elements,
                { n in ["_id": 1, "a": Sample.array(n) { ["b": .int($0)] }] },
                { ["a": ["$elemMatch": ["b": .int($0)]]] }),
            one(
                "document: a path into an array", .elements,
                { n in ["_id": 1, "a": Sample.array(n) { ["b": .int($0)] }] },
                { ["a.b": .int($0)] }),
            one(
                "document: equality of an array", .elements,
                { ["_id": 1, "a": Sample.array($0)] }, { ["a": Sample.array($0)] }),
            one(
                "document: equality of a document", .fields,
                { ["_id": 1, "a": .document(Sample.fields($0))] },
                { ["a": .document(Sample.fields($0))] }),
            one(
                "document: conditions of all its fields", .fields, upTo: 8_000,
                { Sample.wide($0) }, { Sample.fields($0) }),
            one(
                "document: $size", .elements,
                { ["_id": 1, "a": Sample.array($0)] }, { ["a": ["$size": .int($0)]] }),
            one(
                "document: $regex on a text", .bytes, upTo: 1_600_000,
                { ["_id": 1, "a": .string(String(repeating: "ab", count: $0))] },
                { _ in ["a": ["$regex": "abc"]] }),
            one(
                "document: case-insensitive $regex", .bytes, upTo: 800_000,
                { ["_id": 1, "a": .string(String(repeating: "ab", count: $0))] },
                { _ in ["a": ["$regex": "ABC", "$options": "i"]] }),
            one(
                "document: $jsonSchema with properties", .fields, upTo: 8_000,
                { Sample.wide($0) },
                { n in
                    [
                        "$jsonSchema": [
                            "properties": .document(
                                Sample.fields(n) { _ in
                                    ["bsonType": "int"]
                                })
                        ]
                    ]
                }),
            one(
                "document: $jsonSchema with required", .fields, upTo: 8_000,
                { Sample.wide($0) },
                { n in
                    ["$jsonSchema": ["required": Sample.array(n) { .string("f\($0)") }]]
                }),
            one(
                "document: $jsonSchema without additionalProperties", .fields, upTo: 8_000,
                { Sample.wide($0) },
                { n in
                    [
                        "$jsonSchema": [
                            "additionalProperties": false,
                            "properties": .document(
                                BSONDocument(
                                    [("_id", [:])]
                                        + Sample.names(n).map { ($0, BSONValue.document([:])) })),
                        ]
                    ]
                }),
            one(
                "document: $jsonSchema uniqueItems", .elements, upTo: 16_000,
                { ["_id": 1, "a": Sample.array($0)] },
                { _ in ["$jsonSchema": ["properties": ["a": ["uniqueItems": true]]]] }),
            one(
                "document: $jsonSchema items", .elements, upTo: 16_000,
                { ["_id": 1, "a": Sample.array($0)] },
                { _ in
                    [
                        "$jsonSchema": [
                            "properties": ["a": ["items": ["minimum": 0, "maximum": 1e9]]]
                        ]
                    ]
                }),
        ]
    }

    private static var projections: [Road] {
        [
            one(
                "projection: include fields", .fields, upTo: 16_000,
                { Sample.wide($0) }, { _ in [:] }, { Sample.fields($0) { _ in 1 } }),
            one(
                "projection: exclude fields", .fields, upTo: 16_000,
                { Sample.wide($0) }, { _ in [:] }, { Sample.fields($0) { _ in 0 } }),
            one(
                "projection: computed fields", .fields, upTo: 8_000,
                { Sample.wide($0) }, { _ in [:] },
                { n in Sample.fields(n) { ["$add": [.string("$f\($0)"), 1]] } }),
            one(
                "projection: one field of a wide document", .fields,
                { Sample.wide($0) }, { _ in [:] }, { ["f\($0 - 1)": 1] }),
            one(
                "projection: paths in a nested document", .fields, upTo: 16_000,
                { ["_id": 1, "a": .document(Sample.fields($0))] }, { _ in [:] },
                { n in BSONDocument(Sample.names(n).map { ("a.\($0)", 1) }) }),
            one(
                "projection: a path in an array", .elements,
                { n in ["_id": 1, "a": Sample.array(n) { ["b": .int($0), "c": 1] }] },
                { _ in [:] }, { _ in ["a.b": 1] }),
            one(
                "projection: $slice", .elements,
                { ["_id": 1, "a": Sample.array($0)] }, { _ in [:] },
                { ["a": ["$slice": [.int($0 / 2), .int($0 / 2)]]] }),
            one(
                "projection: $elemMatch", .elements,
                { n in ["_id": 1, "a": Sample.array(n) { ["b": .int($0)] }] },
                { _ in [:] }, { ["a": ["$elemMatch": ["b": .int($0 - 1)]]] }),
            one(
                "projection: positional", .elements,
                { n in ["_id": 1, "a": Sample.array(n) { ["b": .int($0)] }] },
                { ["a.b": .int($0 - 1)] }, { _ in ["a.$": 1] }),
        ]
    }
}
