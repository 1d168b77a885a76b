import SyncSimulation

/// Parts of expensive requests, as Extended JSON.
enum ExpensivePart {
    /// A part with its name.
    typealias Named = (name: String, text: String)

    /// One of several.
    static func pick(_ parts: [Named], _ random: inout SimulationRandom) -> Named {
        parts.randomElement(using: &random) ?? parts[0]
    }

    /// Stages that do not end by themselves.
    static let endless: [Named] = [
        ("lookups", list(join, 6) + ", {\"$count\": \"n\"}"),
        ("map over index", "{\"$project\": {\"x\": \(mapOverIndex)}}"),
        ("endless function", "{\"$project\": {\"x\": \(function("while (true) {}"))}}"),
    ]

    /// Stages of pipelines.
    static let stages: [Named] =
        endless + [
            ("a product of lookups", list(join, 3) + ", {\"$group\": {\"_id\": \"$j.n\"}}"),
            (
                "unwound arrays",
                "{\"$unwind\": \"$a\"}, {\"$unwind\": \"$b\"}, {\"$sort\": {\"n\": 1}}"
            ),
            (
                "a graph",
                """
                {"$graphLookup": {"from": "nodes", "startWith": "$_id", "connectFromField": "to",
                    "connectToField": "_id", "as": "reached"}},
                {"$unwind": "$reached"},
                {"$graphLookup": {"from": "nodes", "startWith": "$reached._id",
                    "connectFromField": "to", "connectToField": "_id", "as": "again"}}
                """
            ),
            (
                "a large facet",
                """
                {"$facet": {"a": [{"$unwind": "$a"}], "b": [{"$unwind": "$a"}, {"$sort": {"a": 1}}],
                    "c": [{"$sortByCount": "$t"}]}}
                """
            ),
            (
                "buckets",
                "{\"$unwind\": \"$a\"}, {\"$bucketAuto\": {\"groupBy\": \"$a\", \"buckets\": 5000, "
                    + "\"output\": {\"all\": {\"$push\": \"$$ROOT\"}}}}"
            ),
            (
                "windows",
                """
                {"$unwind": "$a"}, {"$setWindowFields": {"sortBy": {"a": 1}, "output": {
                    "s": {"$push": "$a", "window": {"documents": ["unbounded", "unbounded"]}}}}}
                """
            ),
            (
                "densified",
                """
                {"$densify": {"field": "n", "range": {"step": 0.0001, "bounds": [0, 400]}}}
                """
            ),
            (
                "filled",
                "{\"$unwind\": \"$a\"}, {\"$fill\": {\"sortBy\": {\"a\": 1}, "
                    + "\"output\": {\"n\": {\"method\": \"linear\"}}}}"
            ),
            (
                "pushed wholes",
                "{\"$unwind\": \"$a\"}, {\"$group\": {\"_id\": 1, \"r\": {\"$push\": \"$$ROOT\"}}}"
            ),
            (
                "accumulators",
                """
                {"$group": {"_id": "$k", "x": {"$accumulator": {"init": "function() {return []}",
                    "accumulate": "function(s, n) {while (true) {s.push(n)} return s}",
                    "accumulateArgs": ["$n"], "merge": "function(a, b) {return a}", "lang": "js"}}}}
                """
            ),
            (
                "correlated lookups",
                """
                {"$lookup": {"from": "items", "let": {"n": "$n"}, "as": "j", "pipeline": [
                    {"$match": {"$expr": {"$ne": ["$n", "$$n"]}}}, \(join)]}}
                """
            ),
            ("long samples", "{\"$unwind\": \"$a\"}, {\"$sample\": {\"size\": 100000}}"),
        ]

    /// Expressions, of documents of any collection.
    static let expressions: [Named] = [
        ("map over index", mapOverIndex),
        (
            "reduce over range",
            reduce("{\"$range\": [0, 5000000]}", "0", "{\"$add\": [\"$$this\", \"$$value\"]}")
        ),
        (
            "arrays that double",
            reduce(
                "{\"$range\": [0, 40]}", "[1]", "{\"$concatArrays\": [\"$$value\", \"$$value\"]}")
        ),
        (
            "texts that double",
            reduce("{\"$range\": [0, 40]}", "\"ab\"", "{\"$concat\": [\"$$value\", \"$$value\"]}")
        ),
        ("union of sets", "{\"$size\": {\"$setUnion\": [\(ranges(8))]}}"),
        ("difference of sets", "{\"$size\": {\"$setDifference\": [\(ranges(2))]}}"),
        ("zip", "{\"$size\": {\"$zip\": {\"inputs\": [\(ranges(8))]}}}"),
        (
            "patterns over 8 MiB",
            "{\"$size\": {\"$regexFindAll\": {\"input\": \(eightMiB), \"regex\": \"a|b\"}}}"
        ),
        (
            "700 alternatives",
            "{\"$regexMatch\": {\"input\": \(eightMiB), \"regex\": \"\(alternatives)\"}}"
        ),
        (
            "backtracking",
            "{\"$regexMatch\": {\"input\": \(eightMiB), \"regex\": \"^(([ab])+.?)+$z\"}}"
        ),
        (
            "replacing",
            """
            {"$replaceAll": {"input": \(eightMiB), "find": "a", "replacement": "xyz"}}
            """
        ),
        ("splitting", "{\"$size\": {\"$split\": [\(eightMiB), \"a\"]}}"),
        (
            "sorted arrays",
            "{\"$sortArray\": {\"input\": {\"$range\": [0, 3000000]}, \"sortBy\": -1}}"
        ),
        ("endless function", function("while (true) {}")),
        ("deep arrays", function("let a = []; for (let i = 0; i < 1e7; i++) {a = [a]} return 1")),
        ("repeat", function("return 'ab'.repeat(1 << 29).length")),
        (
            "join",
            function("let a = []; for (let i = 0; i < 1e6; i++) {a.push(i)} return a.join('-----')")
        ),
        ("recursion", function("function f(n) {return f(n + 1) + 1} return f(0)")),
        ("many properties", function("let o = {}; for (let i = 0; ; i++) {o['k' + i] = [i, i]}")),
        ("deep nesting", nested("{\"$abs\": ", "\"$n\"", "}", 30)),
        (
            "filter of filters",
            """
            {"$size": {"$filter": {"input": {"$range": [0, 2000]}, "cond": {"$gt": [{"$size":
            {"$filter": {"input": {"$range": [0, 5000]}, "as": "u", "cond": {"$eq": ["$$u",
            "$$this"]}}}}, 5]}}}}
            """
        ),
    ]

    /// Filters of queries.
    static let filters: [Named] = [
        ("700 alternatives", "{\"t\": {\"$regex\": \"\(alternatives)\"}}"),
        ("backtracking", "{\"t\": {\"$regex\": \"^(a|ab|b)*(ba)*z$\"}}"),
        ("many words", "{\"$text\": {\"$search\": \"\(words)\"}}"),
        ("$where", "{\"$where\": \"function() {while (true) {}}\"}"),
        ("$where with arrays", "{\"$where\": \"let a = [1]; while (true) {a = a.concat(a)}\"}"),
        ("deep conditions", nested("{\"$and\": [", "{\"n\": 1}", "]}", 30)),
        ("deeper conditions", nested("{\"$nor\": [", "{\"n\": 1}", "]}", 40)),
        (
            "long lists",
            "{\"n\": {\"$nin\": [\(numbers(20_000))]}}"
        ),
        (
            "all of many",
            "{\"a\": {\"$all\": [\(numbers(2_000))]}}"
        ),
        (
            "elements",
            "{\"a\": {\"$elemMatch\": {\"$not\": {\"$in\": [\(numbers(5_000))]}}}}"
        ),
        ("an expression", "{\"$expr\": {\"$eq\": [\(mapOverIndex), 1]}}"),
        ("a million values", million),
        ("25,000 corners", "{\"a\": {\"$geoWithin\": {\"$geometry\": \(polygon)}}}"),
    ]

    /// Whole commands of other kinds.
    static let commands: [Named] = [
        (
            "mapReduce",
            """
            {"mapReduce": "items", "map": "function() {while (true) {emit(this.n, [this])}}",
            "reduce": "function(k, v) {return v}", "out": {"inline": 1}}
            """
        ),
        (
            "mapReduce of many",
            """
            {"mapReduce": "items", "map": "function() {for (let i = 0; i < 1e6; i++) { \
            emit(i, 'x'.repeat(1000))}}", "reduce": "function(k, v) {return v[0]}", "out": "spoils"}
            """
        ),
        (
            "an index",
            """
            {"createIndexes": "words", "indexes": [{"key": {"$**": 1}, "name": "all"}]}
            """
        ),
        ("validation", "{\"validate\": \"words\", \"full\": true}"),
        ("hashes", "{\"dbHash\": 1}"),
        (
            "explained lookups",
            """
            {"explain": {"aggregate": "items", "pipeline": [\(list(join, 6))], "cursor": {}},
            "verbosity": "executionStats"}
            """
        ),
        (
            "many updates",
            "{\"update\": \"spoils\", \"updates\": [\(updates)]}"
        ),
        (
            "many inserts",
            "{\"insert\": \"spoils\", \"documents\": [\(inserts)]}"
        ),
        (
            "a wide $set",
            """
            {"update": "spoils", "updates": [{"q": {}, "u": {"$set": {\(paths)}}, "multi": true}]}
            """
        ),
        (
            "a delete by many values",
            "{\"delete\": \"spoils\", \"deletes\": [{\"q\": \(million), \"limit\": 0}]}"
        ),
        (
            "a change by many values",
            """
            {"findAndModify": "spoils", "query": {"$nor": [\(million)]},
            "update": {"$inc": {"n": 1}}}
            """
        ),
        ("a dropped collection", "{\"drop\": \"spoils\"}"),
        ("ended sessions", "{\"endSessions\": [\(sessions)]}"),
        ("killed sessions", "{\"killSessions\": [\(sessions)]}"),
        ("killed cursors", "{\"killCursors\": \"items\", \"cursors\": [\(cursors)]}"),
    ]
}

// MARK: - Pieces

extension ExpensivePart {
    private static let join =
        "{\"$lookup\": {\"from\": \"items\", \"localField\": \"k\", \"foreignField\": \"k\", "
        + "\"as\": \"j\"}}, {\"$unwind\": \"$j\"}"

    private static let mapOverIndex =
        """
        {"$size": {"$let": {"vars": {"r": {"$range": [0, 300000]}}, "in": {"$map": {"input": "$$r",
            "in": {"$indexOfArray": ["$$r", {"$add": ["$$this", 1e9]}]}}}}}}
        """

    /// A text of 8 MiB.
    private static let eightMiB = reduce(
        "{\"$range\": [0, 22]}", "\"ab\"", "{\"$concat\": [\"$$value\", \"$$value\"]}")

    private static let alternatives =
        (0..<700).map { "[ax]{1,9}y\($0)" }.joined(separator: "|")

    private static let updates = list(
        """
        {"q": {"t": {"$regex": "(a|ab)*z"}}, "u": {"$inc": {"n": 1}}, "multi": true}
        """, 2_000)

    private static let inserts = list("{\"t\": \"\(String(repeating: "ab", count: 99))\"}", 2_000)

    /// Sessions that the server does not have, beside those with open cursors.
    private static let sessions = (0..<20_000).map { number in
        let digits = String(number)
        let id = String(repeating: "0", count: 12 - digits.count) + digits
        return "{\"id\": {\"$uuid\": \"00000000-0000-4000-8000-\(id)\"}}"
    }.joined(separator: ", ")

    private static func numbers(_ count: Int) -> String {
        (0..<count).map { "\($0)" }.joined(separator: ", ")
    }

    private static let cursors = (0..<50_000).map { "{\"$numberLong\": \"\($0)\"}" }
        .joined(separator: ", ")

    /// A filter that names a million values, of which the documents have few.
    private static let million = "{\"n\": {\"$in\": [\(numbers(1_000_000))]}}"

    /// The fields of a wide update: 20,000 under one path.
    private static let paths = (0..<20_000).map { "\"wide.f\($0)\": \($0)" }
        .joined(separator: ", ")

    /// A polygon of 25,000 corners, on a circle by rational points.
    private static let polygon: String = {
        var ring = (0..<25_000).map { number in
            let t = Double(number) / 12_500 - 1
            return "[\((1 - t * t) / (1 + t * t)), \(2 * t / (1 + t * t))]"
        }
        ring.append(ring[0])
        let corners = ring.joined(separator: ", ")
        return "{\"type\": \"Polygon\", \"coordinates\": [[\(corners)]]}"
    }()

    private static let words = (0..<50_000).map { "w\($0)" }.joined(separator: " ")

    private static func reduce(_ input: String, _ initial: String, _ body: String) -> String {
        "{\"$reduce\": {\"input\": \(input), \"initialValue\": \(initial), \"in\": \(body)}}"
    }

    private static func ranges(_ count: Int) -> String {
        (0..<count).map { "{\"$range\": [0, \(3_000_000 + $0)]}" }.joined(separator: ", ")
    }

    private static func function(_ body: String) -> String {
        "{\"$function\": {\"body\": \"function() {\(body)}\", \"args\": [], \"lang\": \"js\"}}"
    }

    private static func nested(
        _ open: String, _ inner: String, _ close: String, _ count: Int
    ) -> String {
        String(repeating: open, count: count) + inner + String(repeating: close, count: count)
    }

    private static func list(_ item: String, _ count: Int) -> String {
        Array(repeating: item, count: count).joined(separator: ", ")
    }
}
