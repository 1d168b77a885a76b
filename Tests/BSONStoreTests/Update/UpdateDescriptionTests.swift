import Testing

@testable import BSONCore
@testable import BSONStore

/// A wrong difference sends the wrong fields, or leaves one behind for ever.
struct UpdateDescriptionTests {
    struct Case: Sendable, CustomStringConvertible {
        let description: String
        let before: BSONDocument
        let after: BSONDocument
        var updated: BSONDocument = [:]
        var removed: [String] = []
    }

    static let cases: [Case] = [
        Case(description: "nothing", before: ["a": 1], after: ["a": 1]),
        Case(
            description: "the order of fields is no difference", before: ["a": 1, "b": 2],
            after: ["b": 2, "a": 1]),
        Case(
            description: "set, changed and removed", before: ["a": 1, "b": 2],
            after: ["a": 3, "c": 4], updated: ["a": 3, "c": 4], removed: ["b"]),
        Case(
            description: "nested", before: ["n": ["a": 1, "b": ["c": 2, "d": 3]]],
            after: ["n": ["a": 1, "b": ["c": 5, "e": 6]]],
            updated: ["n.b.c": 5, "n.b.e": 6], removed: ["n.b.d"]),
        Case(
            description: "an emptied document loses its fields one by one",
            before: ["n": ["a": 1, "b": 2]], after: ["n": [:]], removed: ["n.a", "n.b"]),
        Case(
            description: "an array is a value", before: ["l": [1, 2]], after: ["l": [1, 2, 3]],
            updated: ["l": [1, 2, 3]]),
        Case(
            description: "an array that becomes null is set to null", before: ["l": [1]],
            after: ["l": nil], updated: ["l": nil]),
        Case(
            description: "a document that becomes a value", before: ["n": ["a": 1]],
            after: ["n": 1], updated: ["n": 1]),
        Case(
            description: "types count", before: ["a": 1, "b": 0.0],
            after: ["a": .int64(1), "b": -0.0], updated: ["a": .int64(1), "b": -0.0]),
        Case(
            description: "_id is passed over on top only", before: ["_id": 1, "n": ["_id": 1]],
            after: ["_id": 2, "n": ["_id": 2]], updated: ["n._id": 2]),
        Case(
            description: "a key that no path can name sets its parent",
            before: ["n": ["a.b": 1, "c": 1]], after: ["n": ["a.b": 2, "c": 2]],
            updated: ["n": ["a.b": 2, "c": 2]]),
        Case(
            description: "a key with a dollar sets its parent", before: ["n": ["m": ["$x": 1]]],
            after: ["n": ["m": ["$x": 2]]], updated: ["n.m": ["$x": 2]]),
        Case(
            description: "the excluded field is passed over",
            before: ["v": 1, "n": ["v": 1]], after: ["v": 2, "n": ["v": 2]],
            updated: ["n.v": 2]),
    ]

    /// A document of random fields, some in nested documents, in a random order.
    private static func document(_ random: inout RandomBSON, depth: Int = 2) -> BSONDocument {
        var document = BSONDocument()
        let names = (0..<random.number(0..<40)).map { _ in "f\(random.number(0..<40))" }
        for name in random.shuffled(Array(Set(names)).sorted()) {
            let isNested = depth > 0 && random.number(0..<6) == 0
            document.append(
                name,
                isNested
                    ? .document(Self.document(&random, depth: depth - 1))
                    : .int32(Int32(random.number(0..<3))))
        }
        return document
    }

    @Test("many paths at once do what they do one by one", arguments: 0..<20 as Range<UInt64>)
    func manyPaths(seed: UInt64) throws {
        var random = RandomBSON(seed: seed)
        for _ in 0..<100 {
            let (before, after) = (Self.document(&random), Self.document(&random))
            let difference = try #require(UpdateDescription.difference(from: before, to: after))
            var expected = before
            for path in difference.removedFields { expected.removeValue(atPath: path) }
            for (path, value) in difference.updatedFields {
                try expected.set(path: path, to: value)
            }
            let applied = try difference.apply(to: before)
            #expect(applied == expected)
            #expect(applied.contentEquals(after))
            var reader = BSONPathReader(after)
            for path in difference.paths + ["f1.f2", "f1.f2.f3", "x", "x.y", ""] {
                let found = reader.value(at: path)
                #expect(found == after[path: path], "\(path)")
            }
            // To another document, where values may stand in the way.
            let other = Self.document(&random)
            var single: Result<BSONDocument, BSONError> = .success(other)
            do throws(BSONError) {
                var result = other
                for path in difference.removedFields { result.removeValue(atPath: path) }
                for (path, value) in difference.updatedFields {
                    try result.set(path: path, to: value)
                }
                single = .success(result)
            } catch {
                single = .failure(error)
            }
            let whole = Result { () throws(BSONError) in try difference.apply(to: other) }
            #expect(whole == single)
        }
    }

    @Test("names are compared by their bytes, wherever they stand")
    func bytes() throws {
        let (composed, decomposed) = ("caf\u{e9}", "cafe\u{301}")
        let fields = (0..<20).map { ("f\($0)", BSONValue.int32(0)) }
        let before = BSONDocument(fields + [(composed, 1)])
        let after = BSONDocument([(decomposed, 1)] + fields)
        let difference = try #require(UpdateDescription.difference(from: before, to: after))
        #expect(difference.removedFields.map { Array($0.utf8) } == [Array(composed.utf8)])
        #expect(difference.updatedFields.keys.map { Array($0.utf8) } == [Array(decomposed.utf8)])
        #expect(try difference.apply(to: before).contentEquals(after))
    }

    @Test("differences are told by path", arguments: cases)
    func differences(one: Case) throws {
        let difference = UpdateDescription.difference(
            from: one.before, to: one.after, excluding: "v")
        #expect(
            difference
                == UpdateDescription(updatedFields: one.updated, removedFields: one.removed))
    }

    @Test(
        "what no path on top can name has no description",
        arguments: [["a.b": 1], ["$a": 1], ["": 1]] as [BSONDocument])
    func nameless(after: BSONDocument) {
        #expect(UpdateDescription.difference(from: [:], to: after) == nil)
        #expect(UpdateDescription.difference(from: after, to: [:]) == nil)
        #expect(UpdateDescription.difference(from: after, to: after)?.isEmpty == true)
    }

    @Test("a path through a value without fields is an error, not a trap")
    func notViable() {
        let update = UpdateDescription(updatedFields: ["a.b": 1])
        #expect(throws: BSONError.self) { try update.apply(to: ["a": 5]) }
    }

    @Test("applying the difference of two random documents gives the second", arguments: 0..<400)
    func law(seed: Int) throws {
        var random = RandomBSON(seed: UInt64(seed))
        let before = random.document()
        let after = seed.isMultiple(of: 3) ? random.document() : Self.varied(before, &random)
        if Self.hasTwins(before) || Self.hasTwins(after) { return }
        guard let difference = UpdateDescription.difference(from: before, to: after) else {
            return
        }
        var expected = after
        expected["_id"] = before["_id"]
        let applied = try difference.apply(to: before)
        #expect(applied.contentEquals(expected))
        #expect(difference.isEmpty == before.contentEquals(expected))
    }

    @Test("arrays that are told by elements give the second document too", arguments: 0..<400)
    func arrayLaw(seed: Int) throws {
        var random = RandomBSON(seed: UInt64(seed) + 7_000)
        var before = random.document()
        before["list"] = .array(random.array(depth: 3))
        var after = Self.varied(before, &random)
        after["list"] = .array(Self.varied(before["list"]?.arrayValue ?? [], &random))
        if Self.hasTwins(before) || Self.hasTwins(after) { return }
        guard
            let difference = UpdateDescription.difference(
                from: before, to: after, splittingArrays: true)
        else { return }
        after["_id"] = before["_id"]
        #expect(try difference.apply(to: before).contentEquals(after))
    }

    @Test("an array is told by its elements where that is shorter")
    func elements() {
        let text = BSONValue.string(String(repeating: "x", count: 100))
        let before: BSONDocument = ["a": [text, 1, 2], "b": [["c": 1, "d": text], 5]]
        let after: BSONDocument = ["a": [text, 9], "b": [["c": 2, "d": text], 5, 6]]
        #expect(
            UpdateDescription.difference(from: before, to: after, splittingArrays: true)
                == UpdateDescription(
                    updatedFields: ["a.1": 9, "b.0.c": 2, "b.2": 6],
                    truncatedArrays: [.init(field: "a", newSize: 2)]))
        #expect(
            UpdateDescription.difference(from: before, to: after)
                == UpdateDescription(
                    updatedFields: ["a": [text, 9], "b": [["c": 2, "d": text], 5, 6]]))
        #expect(
            UpdateDescription.difference(
                from: ["a": [1, 2, 3]], to: ["a": [4]], splittingArrays: true)
                == UpdateDescription(updatedFields: ["a": [4]]))
    }

    private static func varied(_ array: BSONArray, _ random: inout RandomBSON) -> BSONArray {
        var values = array.values
        for index in values.indices where random.number(0..<3) == 0 {
            if case .document(let nested) = values[index] {
                values[index] = .document(varied(nested, &random))
            } else {
                values[index] = random.value()
            }
        }
        if random.number(0..<2) == 0 {
            values.append(random.value())
        } else {
            values = values.dropLast()
        }
        return BSONArray(values)
    }

    /// The document with some fields gone, some other, some the same.
    private static func varied(
        _ document: BSONDocument, _ random: inout RandomBSON
    ) -> BSONDocument {
        var varied = BSONDocument()
        for (key, value) in document {
            switch random.number(0..<4) {
            case 0: break
            case 1: varied.append(key, random.value())
            default:
                if case .document(let nested) = value {
                    varied.append(key, .document(Self.varied(nested, &random)))
                } else {
                    varied.append(key, value)
                }
            }
        }
        varied["new"] = random.value()
        return varied
    }

    /// A key stands twice in a document, which no path can tell apart.
    private static func hasTwins(_ document: BSONDocument) -> Bool {
        let keys = document.keys
        if Set(keys).count != keys.count { return true }
        return document.contains { element in
            switch element.value {
            case .document(let nested): hasTwins(nested)
            case .array(let array): array.contains { hasTwins($0.documentValue ?? [:]) }
            default: false
            }
        }
    }
}
