import BSONStore

/// The stages of pipelines, over n documents or with n parts.
enum StageRoads {
    private static func documents(
        _ name: String, _ growth: Road.Growth = .documents, upTo: Int = 16_000,
        reason: String? = nil, indexes: [BSONDocument] = [],
        _ pipeline: @escaping (Int) -> [BSONDocument]
    ) -> Road {
        Road("pipeline: \(name)", growth, upTo: upTo, reason: reason) { n in
            let items = try await Sample.collection(Sample.documents(n))
            for keys in indexes { try items.createIndex(keys) }
            let pipeline = pipeline(n)
            return Trip { try items.aggregate(pipeline) }
        }
    }

    /// A pipeline that itself grows, over a few documents.
    private static func parts(
        _ name: String, _ growth: Road.Growth, from: Int = 100, upTo: Int = 8_000,
        reason: String? = nil, _ document: @escaping (Int) -> BSONDocument = Sample.document,
        _ pipeline: @escaping (Int) -> [BSONDocument]
    ) -> Road {
        Road("pipeline: \(name)", growth, from: from, upTo: upTo, reason: reason) { n in
            let items = try await Sample.collection([document(n)])
            let pipeline = pipeline(n)
            return Trip { try items.aggregate(pipeline) }
        }
    }

    /// The roads.
    static var all: [Road] { single + grouping + joining + writing + wide + views }

    private static var single: [Road] {
        [
            documents("$match and $sort") { _ in
                [["$match": ["half": 1]], ["$sort": ["shuffled": 1]]]
            },
            documents("$sort and $limit") { _ in [["$sort": ["shuffled": 1]], ["$limit": 5]] },
            documents("$project") { _ in [["$project": ["n": 1, "x": ["$add": ["$n", 1]]]]] },
            documents("$addFields") { _ in [["$addFields": ["x": ["$concat": ["$text", "!"]]]]] },
            documents("$unwind") { _ in [["$unwind": "$tags"]] },
            documents("$count") { _ in [["$count": "n"]] },
            documents("$sample") { n in [["$sample": ["size": .int(n / 2)]]] },
            documents("$redact") { _ in
                [["$redact": ["$cond": [["$eq": ["$half", 1]], "$$KEEP", "$$PRUNE"]]]]
            },
            documents("$replaceRoot") { _ in
                [["$replaceRoot": ["newRoot": ["$mergeObjects": ["$$ROOT", ["x": 1]]]]]]
            },
            documents("$setWindowFields, running sum") { _ in
                [
                    [
                        "$setWindowFields": [
                            "sortBy": ["shuffled": 1],
                            "output": [
                                "s": [
                                    "$sum": "$n",
                                    "window": ["documents": ["unbounded", "current"]],
                                ]
                            ],
                        ]
                    ]
                ]
            },
            documents("$setWindowFields, ranks of groups") { _ in
                [
                    [
                        "$setWindowFields": [
                            "partitionBy": "$group", "sortBy": ["shuffled": 1],
                            "output": ["r": ["$rank": [:]], "d": ["$documentNumber": [:]]],
                        ]
                    ]
                ]
            },
            documents("$setWindowFields, sliding maximum") { n in
                [
                    [
                        "$setWindowFields": [
                            "sortBy": ["n": 1],
                            "output": [
                                "m": [
                                    "$max": "$shuffled",
                                    "window": ["documents": [.int(-n / 4), .int(n / 4)]],
                                ]
                            ],
                        ]
                    ]
                ]
            },
            documents("$setWindowFields, range") { n in
                [
                    [
                        "$setWindowFields": [
                            "sortBy": ["n": 1],
                            "output": [
                                "m": [
                                    "$avg": "$n", "window": ["range": [.int(-n / 4), .int(n / 4)]],
                                ]
                            ],
                        ]
                    ]
                ]
            },
            documents("$densify") { n in
                [["$densify": ["field": "n", "range": ["step": 0.5, "bounds": "full"]]]]
            },
            documents("$fill") { _ in
                [["$fill": ["sortBy": ["n": 1], "output": ["missing": ["method": "locf"]]]]]
            },
            Road("pipeline: $geoNear", .documents, upTo: 8_000) { n in
                let items = try await Sample.collection(
                    (0..<n).map {
                        [
                            "_id": .int($0),
                            "at": [.double(Double($0 % 170)), .double(Double($0 % 80))],
                        ]
                    })
                try items.createIndex(["at": "2dsphere"])
                let near: BSONDocument = [
                    "near": ["type": "Point", "coordinates": [3, 3]], "distanceField": "d",
                ]
                return Trip { try items.aggregate([["$geoNear": .document(near)]]) }
            },
        ]
    }

    private static var grouping: [Road] {
        [
            documents("$group by many values") { _ in
                [["$group": ["_id": "$shuffled", "n": ["$sum": 1]]]]
            },
            documents("$group by a few values") { _ in
                [["$group": ["_id": "$group", "n": ["$avg": "$n"]]]]
            },
            documents("$group with $push") { _ in
                [["$group": ["_id": nil, "a": ["$push": "$n"]]]]
            },
            documents("$group with $addToSet") { _ in
                [["$group": ["_id": nil, "a": ["$addToSet": "$n"]]]]
            },
            documents("$group with $topN") { n in
                [
                    [
                        "$group": [
                            "_id": nil,
                            "a": [
                                "$topN": [
                                    "n": .int(n / 4), "sortBy": ["shuffled": 1], "output": "$n",
                                ]
                            ],
                        ]
                    ]
                ]
            },
            documents("$group with $mergeObjects of new fields", upTo: 8_000) { _ in
                [
                    [
                        "$group": [
                            "_id": nil,
                            "a": ["$mergeObjects": ["$arrayToObject": [[["k": "$text", "v": 1]]]]],
                        ]
                    ]
                ]
            },
            documents("$group with $median") { _ in
                [
                    [
                        "$group": [
                            "_id": nil,
                            "a": ["$median": ["input": "$shuffled", "method": "approximate"]],
                        ]
                    ]
                ]
            },
            documents("$bucketAuto") { n in
                [["$bucketAuto": ["groupBy": "$shuffled", "buckets": .int(n / 4)]]]
            },
            documents("$bucket of many boundaries") { n in
                [["$bucket": ["groupBy": "$n", "boundaries": Sample.array(n + 1)]]]
            },
            documents("$sortByCount") { _ in [["$sortByCount": "$shuffled"]] },
            documents("$facet") { _ in
                [
                    [
                        "$facet": [
                            "a": [["$match": ["half": 1]], ["$project": ["n": 1]]],
                            "b": [["$group": ["_id": "$group"]]],
                        ]
                    ]
                ]
            },
            parts("$facet of many branches", .branches, upTo: 2_000) { n in
                [["$facet": .document(Sample.fields(n) { _ in [["$count": "c"]] })]]
            },
            parts("$group of many accumulators", .fields, upTo: 4_000) { n in
                var group: BSONDocument = ["_id": "$n"]
                for name in Sample.names(n) { group.append(name, ["$sum": 1]) }
                return [["$group": .document(group)]]
            },
        ]
    }

    private static var joining: [Road] {
        [
            documents("$lookup by an index", upTo: 4_000, indexes: [["shuffled": 1]]) { _ in
                [
                    [
                        "$lookup": [
                            "from": "items", "localField": "shuffled", "foreignField": "shuffled",
                            "as": "found",
                        ]
                    ]
                ]
            },
            documents("$lookup without an index", upTo: 4_000) { _ in
                [
                    [
                        "$lookup": [
                            "from": "items", "localField": "shuffled", "foreignField": "shuffled",
                            "as": "found",
                        ]
                    ]
                ]
            },
            documents("$lookup by _id", upTo: 4_000) { _ in
                [
                    [
                        "$lookup": [
                            "from": "items", "localField": "n", "foreignField": "_id",
                            "as": "found",
                        ]
                    ]
                ]
            },
            documents("$lookup of one whole collection by one document") { _ in
                [
                    ["$match": ["_id": 0]],
                    ["$lookup": ["from": "items", "pipeline": [], "as": "found"]],
                ]
            },
            documents("$lookup with a pipeline and $expr", upTo: 4_000) { _ in
                [
                    [
                        "$lookup": [
                            "from": "items", "let": ["x": "$n"],
                            "pipeline": [["$match": ["$expr": ["$eq": ["$_id", "$$x"]]]]],
                            "as": "found",
                        ]
                    ]
                ]
            },
            documents("$lookup of an array of ids", .elements, upTo: 4_000) { n in
                [
                    ["$limit": 1], ["$set": ["ids": Sample.array(n)]],
                    [
                        "$lookup": [
                            "from": "items", "localField": "ids", "foreignField": "_id",
                            "as": "found",
                        ]
                    ],
                ]
            },
            documents("$graphLookup of a chain", upTo: 4_000) { _ in
                [
                    ["$match": ["_id": 0]], ["$set": ["next": 1]],
                    [
                        "$graphLookup": [
                            "from": "items", "startWith": "$next", "connectFromField": "next",
                            "connectToField": "_id", "as": "found",
                        ]
                    ],
                ]
            },
            Road("pipeline: $graphLookup along links", .documents, upTo: 4_000) { n in
                let items = try await Sample.collection(
                    (0..<n).map { ["_id": .int($0), "next": .int($0 + 1)] })
                return Trip {
                    try items.aggregate([
                        ["$match": ["_id": 0]],
                        [
                            "$graphLookup": [
                                "from": "items", "startWith": "$next", "connectFromField": "next",
                                "connectToField": "_id", "as": "found",
                            ]
                        ],
                    ])
                }
            },
            documents("$unionWith") { _ in [["$unionWith": "items"]] },
            parts(
                "$unionWith many times", .branches, upTo: 800,
                reason: "each document passes all later stages, as the pipeline says"
            ) { n in
                (0..<n).map { _ in ["$unionWith": "items"] }
            },
        ]
    }

    private static var writing: [Road] {
        [
            documents("$out", upTo: 8_000) { _ in [["$out": "copy"]] },
            documents("$merge", upTo: 8_000) { _ in [["$merge": "copy"]] },
            documents("$merge by another field", upTo: 4_000) { _ in
                [["$merge": ["into": "items", "on": "_id", "whenMatched": "keepExisting"]]]
            },
            parts("$merge of a wide document", .fields, { Sample.wide($0) }) { n in
                [
                    ["$set": .document(Sample.fields(n) { _ in 1 })],
                    ["$merge": ["into": "copy", "whenMatched": "merge"]],
                ]
            },
        ]
    }

    private static var wide: [Road] {
        [
            parts("$addFields of fields", .fields, { Sample.wide($0) }) {
                [["$addFields": .document(Sample.fields($0) { _ in 7 })]]
            },
            parts("$addFields of new fields", .fields) { n in
                [["$addFields": .document(Sample.fields(n) { _ in "$n" })]]
            },
            parts("$project of fields", .fields, { Sample.wide($0) }) {
                [["$project": .document(Sample.fields($0) { _ in 1 })]]
            },
            parts(
                "$project that reads fields", .fields, { Sample.wide($0) },
                { n in [["$project": .document(Sample.fields(n) { .string("$f\($0)") })]] }),
            parts("$unset of fields", .fields, { Sample.wide($0) }) { n in
                [["$unset": Sample.array(n) { .string("f\($0)") }]]
            },
            parts("$fill of fields", .fields, { Sample.wide($0) }) { n in
                [["$fill": ["output": .document(Sample.fields(n) { _ in ["value": 1] })]]]
            },
            parts(
                "$unwind of one array", .elements, upTo: 32_000,
                { ["_id": 1, "a": Sample.array($0)] }, { _ in [["$unwind": "$a"]] }),
            parts(
                "$replaceRoot of a wide document", .fields, upTo: 32_000,
                { ["_id": 1, "a": .document(Sample.fields($0))] },
                { _ in [["$replaceRoot": ["newRoot": "$a"]]] }),
            parts("many stages", .statements, upTo: 900) { n in
                (0..<n).map { ["$set": ["x": .int($0)]] }
            },
            parts(
                "$redact into a wide document", .fields,
                { n in
                    ["_id": 1, "a": .document(Sample.fields(n) { _ in ["b": 1] })]
                }, { _ in [["$redact": "$$DESCEND"]] }),
            Road("pipeline: documents of a wide first stage", .fields, upTo: 16_000) { n in
                let store = try Sample.store()
                let pipeline: [BSONDocument] = [
                    ["$documents": Sample.array(n) { ["a": .int($0)] }], ["$match": ["a": 1]],
                ]
                return Trip { try store.aggregate(database: "app", pipeline) }
            },
        ]
    }

    private static var views: [Road] {
        [
            Road("pipeline: views on views", .depth, from: 2, upTo: 16) { n in
                let store = try Sample.store()
                try await store.collection(.init("app", "f0")).insertMany(Sample.documents(100))
                for depth in 1...n {
                    try store.createCollection(
                        .init("app", "f\(depth)"),
                        [
                            "viewOn": .string("f\(depth - 1)"),
                            "pipeline": [["$set": ["x": .int(depth)]]],
                        ])
                }
                let view = store.collection(.init("app", "f\(n)"))
                return Trip { try view.find().fetch() }
            },
            Road(
                once: "pipeline: createCollection of views on views", .depth, from: 2, upTo: 16,
                reason: "each view is checked with all views below it; the depth is bounded"
            ) { n in
                let store = try Sample.store()
                try await store.collection(.init("app", "f0")).insertMany(Sample.documents(100))
                return Trip {
                    for depth in 1...n {
                        try store.createCollection(
                            .init("app", "f\(depth)"),
                            ["viewOn": .string("f\(depth - 1)"), "pipeline": [["$limit": 5]]])
                    }
                }
            },
            Road(
                "pipeline: views that join the view below twice", .depth, from: 1, upTo: 8,
                reason: "each level reads the one below twice, 2^n in all; the depth is bounded"
            ) { n in
                let store = try Sample.store()
                try await store.collection(.init("app", "f0")).insertMany(Sample.documents(2))
                for depth in 1...n {
                    let below = BSONValue.string("f\(depth - 1)")
                    try store.createCollection(
                        .init("app", "f\(depth)"),
                        [
                            "viewOn": below,
                            "pipeline": [["$unionWith": below], ["$limit": 2]],
                        ])
                }
                let view = store.collection(.init("app", "f\(n)"))
                return Trip { try view.find().fetch() }
            },
            Road("pipeline: a view of many documents", .documents, upTo: 16_000) { n in
                let items = try await Sample.collection(Sample.documents(n))
                try items.store.createCollection(
                    .init("app", "view"),
                    ["viewOn": "items", "pipeline": [["$set": ["x": 1]]]])
                let view = items.store.collection(.init("app", "view"))
                return Trip { try view.find(["half": 1]).fetch() }
            },
        ]
    }
}
