import Testing

@testable import BSONCore
@testable import BSONStore

/// Without these an update could trap on some document, or change more than it says.
@Suite struct UpdatePropertyTests {
    private static let paths = [
        "a", "b", "c", "a.b", "a.b.c", "a.0", "a.1.b", "a.5", "b.$[]", "b.$[].a", "a.$", "a.$.b",
        "_id", "_id.x", "$x", "a.$x", "c.0.0",
    ]

    private static func operand(
        _ name: String, _ random: inout RandomBSON
    ) -> BSONValue {
        let value = random.value(depth: 2)
        switch name {
        case "$inc", "$mul":
            return random.pick([
                .int32(2), .int64(.max), .double(0.5), .decimal128(random.decimal()), value,
            ])
        case "$push":
            var push: BSONDocument = ["$each": [value, 1]]
            push["$sort"] = random.pick([1, -1, ["b": 1]] as [BSONValue])
            push["$slice"] = random.pick([-2, 0, 3] as [BSONValue])
            push["$position"] = random.pick([0, -1, 7] as [BSONValue])
            return random.pick([value, .document(push)])
        case "$addToSet": return random.pick([value, ["$each": [value, 1, 1.0]]])
        case "$pull": return random.pick([value, ["$gt": 1], ["b": 1], ["$in": [1, value]]])
        case "$pullAll": return .array(random.array(depth: 1))
        case "$pop": return random.pick([1, -1])
        case "$rename": return random.pick(["c", "d.e", "a.b", "b.0"])
        case "$bit": return ["and": 7, "or": .int64(1)]
        case "$currentDate": return random.pick([true, ["$type": "timestamp"]])
        default: return value
        }
    }

    private static let names = [
        "$set", "$unset", "$inc", "$mul", "$min", "$max", "$rename", "$setOnInsert", "$push",
        "$addToSet", "$pull", "$pullAll", "$pop", "$bit", "$currentDate",
    ]

    private static func update(_ random: inout RandomBSON) -> BSONDocument {
        var update = BSONDocument()
        for _ in 0...random.number(0..<2) {
            let name = random.pick(names)
            var fields = BSONDocument()
            for _ in 0...random.number(0..<2) {
                let path = random.pick(paths)
                if fields[path] == nil { fields.append(path, operand(name, &random)) }
            }
            if update[name] == nil { update.append(name, .document(fields)) }
        }
        return update
    }

    /// The document after an update, the same when nothing changes, `nil` when it is refused.
    private static func apply(
        _ update: BSONDocument, to document: BSONDocument, _ filter: Filter = .all
    ) -> BSONDocument? {
        do throws(StoreError) {
            return try Update(update).apply(to: document, matching: filter) ?? document
        } catch {
            return nil
        }
    }

    private static func insertion(_ update: BSONDocument, _ filter: Filter) -> BSONDocument? {
        do throws(StoreError) {
            return try Update(update).insertion(for: filter)
        } catch {
            return nil
        }
    }

    @Test(arguments: 0..<40)
    func `an update of any document gives a valid document or an error`(_ seed: Int) throws {
        var random = RandomBSON(seed: UInt64(seed))
        let filters = try [Filter.all, Filter(["a": ["$gte": 0]]), Filter(["a.b": 1])]
        for _ in 0..<250 {
            var document = random.document(depth: 3)
            if random.number(0..<2) == 0 { document["_id"] = random.value(depth: 1) }
            let update = Self.update(&random)
            let filter = random.pick(filters)
            if let after = Self.apply(update, to: document, filter) {
                try after.withUnsafeBytes { try BSONValidator.validate($0) }
                #expect(after["_id"] == document["_id"] || document["_id"] == nil)
            }
            if let made = Self.insertion(update, filter) {
                try made.withUnsafeBytes { try BSONValidator.validate($0) }
            }
        }
    }

    @Test(arguments: 0..<20)
    func `what was set, removed or bounded is so the second time too`(_ seed: Int) {
        var random = RandomBSON(seed: UInt64(seed) + 1_000)
        let idempotent = [
            "$set", "$unset", "$min", "$max", "$addToSet", "$pull", "$pullAll", "$setOnInsert",
        ]
        for _ in 0..<200 {
            let document = random.document(depth: 3)
            let name = random.pick(idempotent)
            let operand = Self.operand(name, &random)
            let update: BSONDocument = [name: [random.pick(Self.paths): operand]]
            guard let once = Self.apply(update, to: document) else { continue }
            #expect(Self.apply(update, to: once) == once, "\(update) on \(document)")
        }
    }

    @Test(arguments: 0..<20)
    func `an update in place equals one of the decoded tree`(_ seed: Int) throws {
        var random = RandomBSON(seed: UInt64(seed) + 2_000)
        let paths = ["a", "b", "a.b", "a.b.c", "a.0", "b.2.a", "c.1", "n.m"]
        for _ in 0..<200 {
            let document = random.document(depth: 3)
            let (path, value) = (random.pick(paths), random.value(depth: 1))
            let removes = random.number(0..<3) == 0
            let update: BSONDocument = removes ? ["$unset": [path: 1]] : ["$set": [path: value]]
            let plain = PlainTree(.document(document))
                .setting(
                    path.split(separator: ".")[...].map(String.init)[...],
                    removes ? BSONValue?.none : .some(value))
            let inPlace = Self.apply(update, to: document)
            #expect(inPlace == plain?.value.documentValue, "\(update) on \(document)")
        }
    }
}

/// Sets and removes values in a decoded tree: slow, and plainly right.
private indirect enum PlainTree {
    case fields([(key: String, value: PlainTree)])
    case elements([PlainTree])
    case leaf(BSONValue)

    init(_ value: BSONValue) {
        switch value {
        case .document(let document):
            self = .fields(document.map { ($0.key, PlainTree($0.value)) })
        case .array(let array): self = .elements(array.map { PlainTree($0) })
        default: self = .leaf(value)
        }
    }

    var value: BSONValue {
        switch self {
        case .fields(let fields):
            .document(BSONDocument(fields.map { ($0.key, $0.value.value) }))
        case .elements(let elements): .array(BSONArray(elements.map(\.value)))
        case .leaf(let value): value
        }
    }

    /// The tree with a value at a path, or without it; `nil` when the path is in the way.
    func setting(_ path: ArraySlice<String>, _ new: BSONValue?) -> PlainTree? {
        guard let key = path.first else { return new.map { PlainTree($0) } }
        let rest = path.dropFirst()
        switch self {
        case .fields(var fields):
            let index = fields.firstIndex { $0.key == key }
            guard let index else {
                guard let new else { return self }
                return .fields(fields + [(key, Self.made(rest, new))])
            }
            if rest.isEmpty, new == nil {
                fields.remove(at: index)
                return .fields(fields)
            }
            guard let changed = fields[index].value.setting(rest, new) else { return nil }
            fields[index].value = changed
            return .fields(fields)
        case .elements(var elements):
            guard let index = Int(key) else { return new == nil ? self : nil }
            guard index < elements.count else {
                guard let new else { return self }
                let gap = Array(repeating: PlainTree.leaf(.null), count: index - elements.count)
                return .elements(elements + gap + [Self.made(rest, new)])
            }
            if rest.isEmpty {
                elements[index] = PlainTree(new ?? .null)
                return .elements(elements)
            }
            guard let changed = elements[index].setting(rest, new) else { return nil }
            elements[index] = changed
            return .elements(elements)
        case .leaf: return new == nil ? self : nil
        }
    }

    private static func made(_ path: ArraySlice<String>, _ value: BSONValue) -> PlainTree {
        guard let key = path.first else { return PlainTree(value) }
        return .fields([(key, made(path.dropFirst(), value))])
    }
}
