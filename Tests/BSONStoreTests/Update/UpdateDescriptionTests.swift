import BSONStore
import Testing

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
            if case .document(let nested) = element.value { hasTwins(nested) } else { false }
        }
    }
}
