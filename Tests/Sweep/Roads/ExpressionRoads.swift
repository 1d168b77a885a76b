import BSONStore

/// Expressions over one large array, text or document, or of many parts.
enum ExpressionRoads {
    private static func one(
        _ name: String, _ growth: Road.Growth, from: Int = 100, upTo: Int = 32_000,
        reason: String? = nil, _ document: @escaping (Int) -> BSONDocument,
        _ expression: @escaping (Int) -> BSONValue
    ) -> Road {
        Road("expression: \(name)", growth, from: from, upTo: upTo, reason: reason) { n in
            let items = try await Sample.collection([document(n)])
            let pipeline: [BSONDocument] = [["$project": ["x": expression(n)]]]
            return Trip { try items.aggregate(pipeline) }
        }
    }

    private static func array(
        _ name: String, upTo: Int = 32_000, reason: String? = nil,
        _ expression: @escaping (Int) -> BSONValue
    ) -> Road {
        one(
            name, .elements, upTo: upTo, reason: reason,
            { n in
                [
                    "_id": 1, "a": Sample.array(n) { .int(Sample.shuffled($0)) },
                    "b": Sample.array(n) { .int(Sample.shuffled($0 + n / 2)) },
                ]
            }, expression)
    }

    private static func text(
        _ name: String, upTo: Int = 100_000, reason: String? = nil, _ piece: String = "ab, ",
        _ expression: @escaping (Int) -> BSONValue
    ) -> Road {
        one(
            name, .bytes, upTo: upTo, reason: reason,
            { ["_id": 1, "t": .string(String(repeating: piece, count: $0))] }, expression)
    }

    private static func parts(
        _ name: String, _ growth: Road.Growth = .branches, upTo: Int = 8_000,
        _ expression: @escaping (Int) -> BSONValue
    ) -> Road {
        one(name, growth, upTo: upTo, { _ in ["_id": 1, "n": 1] }, expression)
    }

    /// The roads.
    static var all: [Road] { arrays + sets + texts + documents + composed }

    private static let copies = "each step makes an array of its own, as the expression says"

    private static var arrays: [Road] {
        [
            array("$map") { _ in ["$map": ["input": "$a", "in": ["$add": ["$$this", 1]]]] },
            array("$filter") { _ in ["$filter": ["input": "$a", "cond": ["$gt": ["$$this", 5]]]] },
            array("$reduce to a sum") { _ in
                [
                    "$reduce": [
                        "input": "$a", "initialValue": 0, "in": ["$add": ["$$value", "$$this"]],
                    ]
                ]
            },
            array("$reduce to an array", upTo: 8_000, reason: copies) { _ in
                [
                    "$reduce": [
                        "input": "$a", "initialValue": [],
                        "in": ["$concatArrays": ["$$value", ["$$this"]]],
                    ]
                ]
            },
            array("$reduce to a text", upTo: 8_000, reason: "each step makes a text of its own") {
                _ in
                [
                    "$reduce": [
                        "input": "$a", "initialValue": "",
                        "in": ["$concat": ["$$value", ["$toString": "$$this"]]],
                    ]
                ]
            },
            array("$sum") { _ in ["$sum": "$a"] },
            array("$max") { _ in ["$max": "$a"] },
            array("$maxN") { ["$maxN": ["n": .int($0 / 2), "input": "$a"]] },
            array("$sortArray") { _ in ["$sortArray": ["input": "$a", "sortBy": 1]] },
            array("$reverseArray") { _ in ["$reverseArray": "$a"] },
            array("$slice") { ["$slice": ["$a", .int(-$0 / 2)]] },
            array("$concatArrays") { _ in ["$concatArrays": ["$a", "$b"]] },
            array("$in") { _ in ["$in": [-1, "$a"]] },
            array("$indexOfArray") { _ in ["$indexOfArray": ["$a", -1]] },
            array("$zip") { _ in ["$zip": ["inputs": ["$a", "$b"]]] },
            array("$range") { ["$range": [0, .int($0)]] },
            array("$size") { _ in ["$size": "$a"] },
            array("$arrayElemAt of each index", upTo: 16_000) { n in
                [
                    "$map": [
                        "input": ["$range": [0, .int(n)]],
                        "in": ["$arrayElemAt": ["$a", "$$this"]],
                    ]
                ]
            },
            array("$map with a variable of the document") { _ in
                ["$map": ["input": "$a", "in": ["$subtract": ["$$this", "$_id"]]]]
            },
            array(
                "$filter with $in of another array", upTo: 8_000,
                reason: "it asks for each element of one array in the other, as $filter says"
            ) { _ in ["$filter": ["input": "$a", "cond": ["$in": ["$$this", "$b"]]]] },
            array("$percentile") { _ in
                ["$percentile": ["input": "$a", "p": [0.5, 0.9], "method": "approximate"]]
            },
            array("$arrayToObject") { n in
                [
                    "$arrayToObject": [
                        "$map": [
                            "input": "$a",
                            "in": ["k": ["$toString": "$$this"], "v": 1],
                        ]
                    ]
                ]
            },
        ]
    }

    private static var sets: [Road] {
        [
            array("$setUnion") { _ in ["$setUnion": ["$a", "$b"]] },
            array("$setIntersection") { _ in ["$setIntersection": ["$a", "$b"]] },
            array("$setDifference") { _ in ["$setDifference": ["$a", "$b"]] },
            array("$setEquals") { _ in ["$setEquals": ["$a", ["$reverseArray": "$a"]]] },
            array("$setIsSubset") { _ in ["$setIsSubset": ["$a", "$b"]] },
            array("$anyElementTrue") { _ in ["$anyElementTrue": "$a"] },
            array("$allElementsTrue") { _ in ["$allElementsTrue": "$a"] },
            parts("$setUnion of many arrays") { n in ["$setUnion": Sample.array(n) { [.int($0)] }]
            },
        ]
    }

    private static var texts: [Road] {
        [
            text("$split") { _ in ["$split": ["$t", ", "]] },
            text("$replaceAll") { _ in
                ["$replaceAll": ["input": "$t", "find": ",", "replacement": ";;"]]
            },
            text("$regexFindAll") { _ in ["$regexFindAll": ["input": "$t", "regex": "[a-z]+"]] },
            text("$regexFindAll beyond ASCII", "äb, ") { _ in
                ["$regexFindAll": ["input": "$t", "regex": "[a-z]+"]]
            },
            text("$regexFindAll without a match") { _ in
                ["$regexFindAll": ["input": "$t", "regex": "x+"]]
            },
            text("$regexFind") { _ in ["$regexFind": ["input": "$t", "regex": "x$"]] },
            text("$regexMatch") { _ in ["$regexMatch": ["input": "$t", "regex": "(a|b)+x"]] },
            text("$toUpper") { _ in ["$toUpper": "$t"] },
            text("$trim", " ") { _ in ["$trim": ["input": "$t"]] },
            text("$strLenCP", "äb") { _ in ["$strLenCP": "$t"] },
            text("$substrCP", "äb") { ["$substrCP": ["$t", .int($0 / 2), .int($0)]] },
            text("$substrBytes") { ["$substrBytes": ["$t", .int($0 / 2), .int($0)]] },
            text("$indexOfCP", "äb") { _ in ["$indexOfCP": ["$t", "x"]] },
            text("$indexOfBytes") { _ in ["$indexOfBytes": ["$t", "x"]] },
            text("$concat with itself") { _ in ["$concat": ["$t", "$t"]] },
            text(
                "$substrCP of each character", upTo: 8_000,
                reason: "each substring counts its characters from the text's beginning", "äb"
            ) { n in
                [
                    "$map": [
                        "input": ["$range": [0, .int(n)]],
                        "in": ["$substrCP": ["$t", "$$this", 1]],
                    ]
                ]
            },
        ]
    }

    private static var documents: [Road] {
        [
            one("$objectToArray", .fields, upTo: 16_000, { Sample.wide($0) }) { _ in
                ["$objectToArray": "$$ROOT"]
            },
            one(
                "$mergeObjects of wide documents", .fields, upTo: 16_000,
                {
                    [
                        "_id": 1, "a": .document(Sample.fields($0)),
                        "b": .document(Sample.fields($0)),
                    ]
                },
                { _ in ["$mergeObjects": ["$a", "$b"]] }),
            parts("$mergeObjects of many documents", .fields) { n in
                ["$mergeObjects": Sample.array(n) { ["f\($0)": 1] }]
            },
            one("$getField of a wide document", .fields, upTo: 16_000, { Sample.wide($0) }) {
                ["$getField": .string("f\($0 - 1)")]
            },
            one("$setField in a wide document", .fields, upTo: 16_000, { Sample.wide($0) }) {
                ["$setField": ["field": .string("f\($0 - 1)"), "input": "$$ROOT", "value": 1]]
            },
            parts("a document of many fields", .fields) { n in
                .document(Sample.fields(n) { ["$add": ["$n", .int($0)]] })
            },
            one(
                "a path through an array", .elements,
                { n in ["_id": 1, "a": Sample.array(n) { ["b": .int($0)] }] }, { _ in "$a.b" }),
            one(
                "$cmp of wide documents", .fields, upTo: 16_000,
                {
                    [
                        "_id": 1, "a": .document(Sample.fields($0)),
                        "b": .document(Sample.fields($0)),
                    ]
                },
                { _ in ["$eq": ["$a", "$b"]] }),
        ]
    }

    private static var composed: [Road] {
        [
            parts("$switch") { n in
                [
                    "$switch": [
                        "branches": Sample.array(n) {
                            ["case": ["$eq": ["$n", .int(-$0)]], "then": 1]
                        }, "default": 0,
                    ]
                ]
            },
            parts("$let of many variables", .values, upTo: 4_000) { n in
                [
                    "$let": [
                        "vars": .document(
                            BSONDocument(Sample.names(n).map { ("v\($0)", .string("$n")) })),
                        "in": ["$add": Sample.array(n) { .string("$$vf\($0)") }],
                    ]
                ]
            },
            parts("$add of many numbers") { n in ["$add": Sample.array(n) { _ in "$n" }] },
            parts("$concat of many texts") { n in ["$concat": Sample.array(n) { _ in "ab" }] },
            parts("$and of many conditions") { n in
                ["$and": Sample.array(n) { ["$gt": ["$n", .int(-$0)]] }]
            },
            one("$cond in $cond", .depth, from: 5, upTo: 40, { _ in ["_id": 1, "n": 1] }) { n in
                (0..<n).reduce(.int(1)) { inner, step in
                    ["$cond": [["$eq": ["$n", .int(-step)]], 0, inner]]
                }
            },
        ]
    }
}
