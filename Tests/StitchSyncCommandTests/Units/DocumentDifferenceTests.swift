import BSONStore
import Testing

@testable import StitchSyncCommand

/// A check that sees no difference anywhere would end every demo with "in step".
@Suite struct DocumentDifferenceTests {
    /// Two documents and what is said about them.
    static let different: [(BSONDocument, BSONDocument, String)] = [
        (["a": 1], ["a": 2], "a differs"),
        (["a": 1], ["a": .int64(1)], "a is int32 and int64"),
        (["a": 0.0], ["a": -0.0], "a differs"),
        (["a": 1], [:], "a is missing on one side"),
        ([:], ["a": 1], "a is missing on one side"),
        (["a": ["b": ["c": 1]]], ["a": ["b": ["c": nil]]], "a.b.c is int32 and null"),
        (["a": [1, 2]], ["a": [1]], "a has 2 and 1 values"),
        (["a": [1, 2]], ["a": [2, 1]], "a.0 differs"),
        (["a": ["v": 1]], ["a": ["v": 2]], "a.v differs"),
        (["a": .undefined], ["a": nil], "a is undefined and null"),
        (["a": .symbol("s")], ["a": "s"], "a is symbol and string"),
    ]

    @Test(arguments: different)
    func `a difference is found and named`(
        _ a: BSONDocument, _ b: BSONDocument, _ said: String
    ) {
        #expect(DocumentDifference.first(a, b, ignoring: ["v"]) == said)
        #expect(DocumentDifference.first(b, a, ignoring: ["v"]) != nil)
        #expect(DocumentDifference.first(a, a, ignoring: ["v"]) == nil)
    }

    @Test func `the order of fields and what is ignored at the top make no difference`() {
        let a: BSONDocument = ["_id": 1, "a": ["b": 1, "c": .double(.nan)], "v": 1]
        let b: BSONDocument = ["v": 2, "a": ["c": .double(.nan), "b": 1], "_id": 1]
        #expect(DocumentDifference.first(a, b, ignoring: ["v"]) == nil)
        #expect(DocumentDifference.first(a, b) == "v differs")
    }
}
