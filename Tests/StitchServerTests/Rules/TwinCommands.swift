import BSONStore
import SyncSimulation

/// Random commands of a user who is bound by rules.
struct TwinCommands {
    static let paths = [
        "_id", "owner", "tenant", "title", "n", "salary", "tags", "address", "address.city",
        "address.street", "locked", "at", "none",
    ]
    private static let values: [BSONValue] = [
        0, 1, 2, 3, 15, 40, 41, "one", "two", "secret", "a", "b", "ann", "z", "Via 1", nil, true,
        "own", "far", ["x"], "Lima",
    ]
    private static let ids: [BSONValue] = ["own", "other", "fixed", "far", "farther", "none"]

    private var random: SimulationRandom
    private var insertedCount = 0

    init(seed: UInt64) { random = SimulationRandom(seed: seed) }

    /// Returns the next command.
    mutating func command() -> BSONDocument {
        let kinds = [
            "find", "find", "find", "count", "distinct", "aggregate", "aggregate", "explain",
            "lists", "insert", "update", "update", "delete", "findAndModify", "stream",
        ]
        switch pick(kinds) {
        case "find": return find()
        case "count": return ["count": "items", "query": filter()]
        case "distinct":
            return ["distinct": "items", "key": .string(pick(Self.paths)), "query": filter()]
        case "aggregate":
            return ["aggregate": "items", "cursor": [:], "pipeline": stages(pick([1, 2, 3]), 0)]
        case "explain":
            return [
                "explain": ["find": "items", "filter": filter(), "sort": [pick(Self.paths): 1]],
                "verbosity": .string(pick(["queryPlanner", "executionStats"])),
            ]
        case "lists":
            return pick([
                ["listCollections": 1], ["collStats": "items"], ["dbStats": 1],
                ["listIndexes": "items"], ["find": "profiles"],
            ])
        case "stream":
            return [
                "aggregate": "items", "cursor": [:],
                "pipeline": [["$changeStream": ["fullDocument": "updateLookup"]]],
            ]
        case let write: return self.write(write)
        }
    }

    /// Whether an event of a probability happens.
    mutating func happens(_ probability: Double) -> Bool {
        Double.random(in: 0..<1, using: &random) < probability
    }

    /// Returns one of some elements.
    mutating func pick<Element>(_ elements: [Element]) -> Element {
        elements[Int.random(in: 0..<elements.count, using: &random)]
    }

    /// Returns some of the elements in random order.
    private mutating func sample<Element>(_ elements: [Element], _ count: Int) -> [Element] {
        Array(elements.shuffled(using: &random).prefix(count))
    }

    private mutating func find() -> BSONDocument {
        var command: BSONDocument = [
            "find": "items", "filter": filter(), "batchSize": pick([1, 2, 100]),
        ]
        if happens(0.5) {
            let order = sample(Self.paths, 2).map { ($0, pick([1, -1] as [BSONValue])) }
            command.append("sort", .document(BSONDocument(order)))
        }
        if happens(0.4) {
            command.append("projection", [pick(Array(Self.paths.dropFirst())): pick([0, 1])])
        }
        if happens(0.3) { command.append("limit", pick([1, 2])) }
        if happens(0.2) {
            command.append("hint", pick(["salary_1", ["_id": 1], ["$natural": -1], "none"]))
        }
        return command
    }

    private mutating func value() -> BSONValue { pick(Self.values) }

    private mutating func test() -> BSONValue {
        switch Int.random(in: 0..<9, using: &random) {
        case 0..<3: value()
        case 3: ["$in": [value(), value()]]
        case 4: ["$exists": pick([true, false])]
        case 5: ["$regex": pick([".", "^s", "e"])]
        case 6: ["$not": ["$gt": value()]]
        default: [pick(["$gt", "$lt", "$gte", "$lte", "$ne"]): value()]
        }
    }

    private mutating func filter() -> BSONValue {
        switch Int.random(in: 0..<8, using: &random) {
        case 0: return [:]
        case 1: return ["$or": [[pick(Self.paths): test()], [pick(Self.paths): test()]]]
        case 2: return ["$expr": [pick(["$gt", "$eq", "$lt"]): [expression(), expression()]]]
        case 3: return ["_id": pick(Self.ids)]
        default:
            let tests = sample(Self.paths, pick([1, 1, 2])).map { ($0, test()) }
            return .document(BSONDocument(tests))
        }
    }

    private mutating func expression() -> BSONValue {
        let path = BSONValue.string("$" + pick(Self.paths))
        return pick([
            path, happens(0.7) ? value() : 1, ["$add": [path, 1]], ["$divide": [1, path]],
            ["$size": path], ["$ifNull": [path, "missing"]], ["$type": path],
            ["$strLenCP": path], ["$toString": path],
        ])
    }

    private mutating func stages(_ count: Int, _ depth: Int) -> BSONValue {
        .array(BSONArray((0..<count).map { _ in stage(depth) }))
    }

    private mutating func stage(_ depth: Int) -> BSONValue {
        let name = pick(Self.paths)
        let path = BSONValue.string("$" + name)
        var stages: [BSONValue] = [
            ["$match": filter()], ["$sort": [name: pick([1, -1])]], ["$limit": 2], ["$skip": 1],
            ["$project": [name: 1, "x": expression()]], ["$set": ["x": expression()]],
            ["$unset": .string(name)], ["$count": "c"],
            ["$group": ["_id": path, "s": ["$sum": 1], "m": ["$max": expression()]]],
            ["$unwind": path], ["$sortByCount": path],
            ["$replaceWith": ["$mergeObjects": ["$$ROOT", ["y": 1]]]],
            ["$redact": ["$cond": [["$gt": [path, 1]], "$$KEEP", "$$DESCEND"]]],
            ["$bucketAuto": ["groupBy": path, "buckets": 2]],
        ]
        if depth < 2 { stages += nested(name, depth) }
        return pick(stages)
    }

    /// Returns stages that hold others or read other collections.
    private mutating func nested(_ name: String, _ depth: Int) -> [BSONValue] {
        let inner = (0..<pick([0, 1, 2])).map { _ in stage(depth + 1) }
        let pipeline = BSONValue.array(BSONArray(inner))
        var stages: [BSONValue] = [
            [
                "$lookup": [
                    "from": "items", "localField": .string(name),
                    "foreignField": .string(pick(Self.paths)), "as": "j",
                ]
            ],
            ["$lookup": ["from": pick(["items", "profiles"]), "pipeline": pipeline, "as": "j"]],
            ["$unionWith": ["coll": pick(["items", "profiles"]), "pipeline": pipeline]],
            [
                "$graphLookup": [
                    "from": "items", "startWith": .string("$" + name),
                    "connectFromField": .string(name),
                    "connectToField": .string(pick(Self.paths)), "as": "g",
                ]
            ],
        ]
        if depth == 0 {
            let flat = inner.filter { $0.documentValue?.keys.first != "$facet" }
            let facet = flat.isEmpty ? [["$limit": 1]] : flat
            stages.append(["$facet": ["f": .array(BSONArray(facet))]])
        }
        return stages
    }
}

// Writes.
extension TwinCommands {
    private mutating func update() -> BSONValue {
        let path = pick(Array(Self.paths.dropFirst()))
        return pick([
            ["$set": [path: value()]], ["$unset": [path: 1]], ["$inc": [path: 1]],
            ["$rename": [path: pick(["title", "n"])]], ["$push": ["tags": value()]],
            ["$max": [path: 20]], ["$mul": [path: 2]], [["$set": ["n": expression()]]],
            ["$set": ["title": "x", "n": 1]],
            ["owner": pick(["ann", "ben"]), "tenant": pick(["a", "b"]), "n": value()],
        ])
    }

    private mutating func document() -> BSONValue {
        // Ids are never those of secrets: that they are taken cannot be kept from who asks.
        insertedCount += 1
        var document: BSONDocument = [
            "_id": .string("new\(insertedCount)"), "owner": pick(["ann", "ben", "zoe"]),
            "tenant": pick(["a", "b"]), "title": value(),
        ]
        if happens(0.3) { document.append("salary", 1) }
        return .document(document)
    }

    private mutating func write(_ name: String) -> BSONDocument {
        let isMulti = happens(0.3)
        switch name {
        case "insert": return ["insert": "items", "documents": [document()]]
        case "delete":
            return ["delete": "items", "deletes": [["q": filter(), "limit": isMulti ? 0 : 1]]]
        default: break
        }
        let update = update()
        // A replacement changes one document only.
        let isReplacement = update.documentValue?.keys.first.map { !$0.hasPrefix("$") } ?? false
        if name == "update" {
            let updates = (0..<pick([1, 2])).map { _ -> BSONValue in
                ["q": filter(), "u": update, "multi": .bool(isMulti && !isReplacement)]
            }
            return [
                "update": "items", "ordered": pick([true, false]),
                "updates": .array(BSONArray(updates)),
            ]
        }
        return [
            "findAndModify": "items", "query": filter(),
            "sort": happens(0.5) ? [pick(Self.paths): 1] : ["_id": 1],
            "new": pick([true, false]), "update": update,
            "fields": happens(0.3) ? [pick(Self.paths): 1] : [:],
        ]
    }
}
