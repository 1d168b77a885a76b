import BSONStore
import Testing

@testable import StitchSyncCommand

/// A merge that drops a side's edit would be silent loss in the one place that shows how to avoid it.
@Suite struct FieldMergeTests {
    /// A merge of one field `f`; `nil` is a document without it.
    struct Case: Sendable, CustomTestStringConvertible {
        let base: BSONValue?
        let local: BSONValue?
        let remote: BSONValue?
        let merged: BSONValue?
        let testDescription: String

        init(
            _ name: String, _ base: BSONValue?, _ local: BSONValue?, _ remote: BSONValue?,
            _ merged: BSONValue?
        ) {
            testDescription = name
            (self.base, self.local, self.remote, self.merged) = (base, local, remote, merged)
        }
    }

    static let cases: [Case] = [
        Case("nobody changed it", 1, 1, 1, 1),
        Case("local changed it", 1, 2, 1, 2),
        Case("remote changed it", 1, 1, 2, 2),
        Case("both made the same change", 1, 2, 2, 2),
        Case("local removed it", 1, nil, 1, nil),
        Case("remote removed it", 1, 1, nil, nil),
        Case("local removed and remote changed it", 1, nil, 2, 2),
        Case("remote removed and local changed it", 1, 2, nil, 2),
        Case("local added it", nil, 2, nil, 2),
        Case("both added it", nil, 2, 3, 3),
        Case("both counted int32", 10, 11, 20, 21),
        Case("both counted int64", .int64(10), .int64(11), .int64(20), .int64(21)),
        Case("both counted double", 1.5, 2.0, 3.5, 4.0),
        Case(
            "both appended to an emoji of five scalars", .string("👨‍👩‍👧"), .string("👨‍👩‍👧!"),
            .string("👨‍👩‍👧?"), .string("👨‍👩‍👧?!")),
        Case(
            "int32 beyond its range wraps instead of trapping", 0, 2_147_483_647, 1, -2_147_483_648),
        Case("the type was changed by one", 10, 11, .int64(20), .int64(20)),
        Case("both added to a text", "a", "a l", "a r", "a r l"),
        Case("local rewrote a text", "a", "l", "a r", "a r"),
        Case("both added to an array", [1], [1, 2], [1, 3], [1, 3, 2]),
        Case("local rewrote an array", [1], [2], [1, 3], [1, 3]),
        Case("both added arrays", nil, [1], [2], [2, 1]),
        Case(
            "both changed a document", ["a": 1, "b": 1], ["a": 2, "b": 1, "c": 3],
            ["a": 1, "b": 5], ["a": 2, "b": 5, "c": 3]),
        Case("nothing adds up", true, "l", "r", "r"),
    ]

    @Test(arguments: cases)
    func `a field is merged by what each side did to its base`(_ sample: Case) {
        func document(_ value: BSONValue?) -> BSONDocument {
            value.map { ["_id": 1, "f": $0] } ?? ["_id": 1]
        }
        let merged = FieldMerge.merge(
            base: document(sample.base), local: document(sample.local),
            remote: document(sample.remote))
        #expect(merged == document(sample.merged))
    }

    @Test func `without a base both sides' fields are kept`() {
        let merged = FieldMerge.merge(
            base: nil, local: ["_id": 1, "a": 1, "b": 2], remote: ["_id": 1, "c": 3, "a": 4])
        #expect(merged == ["_id": 1, "c": 3, "a": 4, "b": 2])
    }
}
