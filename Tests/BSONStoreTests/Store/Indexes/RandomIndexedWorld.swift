@testable import BSONCore
@testable import BSONStore

/// Random documents, filters, sorts and index definitions from a small world, so that they meet.
struct RandomIndexedWorld {
    static let id = BSONObjectID()
    var random: SeededGenerator

    mutating func pick<T>(_ values: [T]) -> T {
        values[Int.random(in: 0..<values.count, using: &random)]
    }

    mutating func scalar() -> BSONValue {
        pick([
            .null, 0, 1, 2, 3, 1.5, .double(-0.0), .double(.nan), .int64(2), .int64(.max),
            .double(9.3e18),
            "", "a", "A", "ab", "aB", "b", .bool(false), .bool(true),
            .datetime(BSONDatetime(milliseconds: -5)),
            .minKey, .maxKey, .objectID(RandomIndexedWorld.id), .document(["x": 1]),
            .document([:]), .undefined, .string("a\0b"),
        ])
    }

    mutating func value(_ depth: Int = 0) -> BSONValue {
        switch Int.random(in: 0..<10, using: &random) {
        case 0,
            1 where depth < 2:
            let count = Int.random(in: 0...3, using: &random)
            return .array(BSONArray((0..<count).map { _ in value(depth + 1) }))
        case 2 where depth < 2: return .document(document(depth + 1))
        default: return scalar()
        }
    }

    mutating func document(_ depth: Int = 0) -> BSONDocument {
        var document = BSONDocument()
        for key in ["a", "b", "c"] where Bool.random(using: &random) {
            document.append(key, value(depth))
        }
        return document
    }

    mutating func path() -> String {
        pick(["a", "a", "a", "b", "b", "c", "a.a", "a.b", "b.0", "a.0.b"])
    }

    mutating func test() -> BSONValue {
        let constant = comparable()
        switch Int.random(in: 0..<18, using: &random) {
        case 0, 1: return constant
        case 2: return ["$gt": constant]
        case 3: return ["$gte": constant, "$lte": comparable()]
        case 4: return ["$lt": constant]
        case 5: return ["$in": [constant, comparable(), comparable()]]
        case 6: return ["$exists": .bool(Bool.random(using: &random))]
        case 7: return ["$ne": constant]
        case 8: return .null
        case 9: return [pick(["$regex"]): pick(["^a", "^a[bB]", "b", "^ab*", "^", "^A"])]
        case 10: return ["$in": [.regularExpression(BSONRegularExpression("^a")), constant]]
        case 11: return ["$nin": [constant, comparable()]]
        case 12: return ["$not": ["$gte": constant]]
        case 13: return ["$type": pick(["number", "string", "object", "null", "bool", "int"])]
        case 14: return ["$elemMatch": [path(): constant, path(): ["$gte": comparable()]]]
        case 15: return ["$elemMatch": ["$gte": constant, "$lt": comparable()]]
        case 16: return ["$all": [constant, comparable()]]
        default: return ["$elemMatch": [pick(["a", "b"]): ["$ne": constant]]]
        }
    }

    mutating func comparable() -> BSONValue {
        let value = Int.random(in: 0..<8, using: &random) == 0 ? value(1) : scalar()
        return value == .undefined ? 1 : value
    }

    mutating func filter() -> BSONDocument {
        var filter = BSONDocument()
        for _ in 0..<Int.random(in: 0...2, using: &random) {
            let path = path()
            if filter[path] == nil { filter.append(path, test()) }
        }
        switch Int.random(in: 0..<8, using: &random) {
        case 0, 1:
            filter.append("$or", [.document(simple()), .document(simple())])
        case 2:
            filter.append(
                "$or", [.document(simple()), ["$or": [.document(simple()), ["_id": 5]]]])
        case 3: filter.append("$nor", [.document(simple())])
        default: break
        }
        return filter
    }

    private mutating func simple() -> BSONDocument {
        var simple: BSONDocument = [path(): test()]
        if Bool.random(using: &random) {
            let path = pick([path(), "_id"])
            if simple[path] == nil { simple.append(path, path == "_id" ? 3 : test()) }
        }
        return simple
    }

    mutating func collation() -> BSONDocument? {
        Int.random(in: 0..<4, using: &random) == 0 ? ["locale": "en", "strength": 2] : nil
    }

    mutating func sort() -> BSONDocument? {
        guard Bool.random(using: &random) else { return nil }
        var sort = BSONDocument()
        for _ in 0...Int.random(in: 0...1, using: &random) {
            let path = path()
            if sort[path] == nil { sort.append(path, pick([1, -1])) }
        }
        return sort
    }

    /// A pattern with its fields in a random order, and its numbers of random types and values.
    mutating func spelled(_ pattern: BSONDocument) -> BSONDocument {
        var fields = pattern.map { ($0.key, $0.value) }
        if Int.random(in: 0..<3, using: &random) == 0 { fields.shuffle(using: &random) }
        if Int.random(in: 0..<9, using: &random) == 0 { _ = fields.popLast() }
        return BSONDocument(
            fields.map { field, value in
                guard value.isNumber else { return (field, value) }
                let number = BSONOrder.compare(value, 0) == .less ? -1 : 1
                let other: BSONValue = pick([.double(Double(number) * 2), .int32(Int32(-number))])
                return (
                    field,
                    pick([
                        value, value, value, .double(Double(number)), .int64(Int64(number)),
                        .decimal128(BSONDecimal128(Int64(number))),
                        Int.random(in: 0..<4, using: &random) == 0 ? other : value,
                    ])
                )
            })
    }

    mutating func index() -> BSONDocument {
        var keys = BSONDocument()
        for _ in 0...Int.random(in: 0...2, using: &random) {
            let path = path()
            if keys[path] == nil { keys.append(path, pick([1, -1])) }
        }
        var index: BSONDocument = ["key": .document(keys)]
        switch Int.random(in: 0..<14, using: &random) {
        case 0: index.append("sparse", true)
        case 1: index.append("partialFilterExpression", ["a": ["$gt": 1]])
        case 2: index.append("partialFilterExpression", ["b": ["$exists": true]])
        case 3, 4: index = ["key": ["$**": 1]]
        case 5: index = ["key": ["a.$**": 1]]
        case 6: index = ["key": ["$**": 1], "wildcardProjection": ["a": 1, "b.a": 1]]
        case 7: index = ["key": ["$**": 1], "wildcardProjection": ["a.b": 0, "_id": 1]]
        case 8:
            index = ["key": [pick(["a", "b", "a.a"]): "hashed"]]
            if Bool.random(using: &random) { index.append("sparse", true) }
        default: break
        }
        if let collation = collation() {
            index.append("collation", .document(collation))
            let number = Int.random(in: 0..<1_000_000, using: &random)
            index.append("name", .string("collated\(number)"))
        }
        return index
    }
}
