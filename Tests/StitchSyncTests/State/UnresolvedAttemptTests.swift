import BSONStore
import Testing

@testable import StitchSync

/// An attempt that is applied late is recognized by its effect, not by its name alone.
struct UnresolvedAttemptTests {
    private static let operation = OperationID(instance: 3, sequence: 4)

    private func tried(
        _ intended: BSONDocument?, from base: BSONDocument?
    ) -> UnresolvedAttempt {
        let attempt = Attempt(
            operation: Self.operation, intended: StoredContent(intended, local: nil),
            version: .absent)
        return UnresolvedAttempt(attempt, base: base, local: nil)
    }

    /// A base, what was intended, the base by now, the remote's document, and whether that is all of
    /// the app's own.
    private static let cases: [(BSONDocument?, BSONDocument, BSONDocument?, BSONDocument?, Bool)] =
        [
            (nil, ["_id": 1, "x": 1], nil, ["_id": 1, "x": 1], true),
            (nil, ["_id": 1, "x": 1, "y": 2], nil, ["_id": 1, "y": 2, "x": 1], true),
            (nil, ["_id": 1, "x": 1], nil, ["_id": 1, "x": 1, "y": 7], false),
            (nil, ["_id": 1, "x": 1], nil, nil, false),
            (
                ["_id": 1, "x": 0], ["_id": 1, "x": 1], ["_id": 1, "x": 0], ["_id": 1, "x": 1], true
            ),
            (["_id": 1, "x": 0], ["_id": 1], ["_id": 1, "x": 0], ["_id": 1], true),
            (
                ["_id": 1, "x": 0, "y": 0], ["_id": 1, "x": 1, "y": 0], ["_id": 1, "x": 0, "y": 0],
                ["_id": 1, "x": 1, "y": 7], false
            ),
            // The foreign change was seen before.
            (
                ["_id": 1, "x": 0, "y": 0], ["_id": 1, "x": 1, "y": 0], ["_id": 1, "x": 0, "y": 7],
                ["_id": 1, "x": 1, "y": 7], true
            ),
            (
                ["_id": 1, "x": 0], ["_id": 1, "x": 1], ["_id": 1, "x": 0], ["_id": 1, "x": 2],
                false
            ),
            // The path leads through a number by now.
            (
                ["_id": 1, "a": ["b": 1]], ["_id": 1, "a": ["b": 2]], ["_id": 1, "a": 5],
                ["_id": 1], false
            ),
            // What paths cannot name, and what is too long to be kept, is known by the whole content.
            (
                ["_id": 1, "$x": 0], ["_id": 1, "$x": 1], ["_id": 1, "$x": 0], ["_id": 1, "$x": 1],
                true
            ),
            (
                ["_id": 1, "$x": 0], ["_id": 1, "$x": 1], ["_id": 1, "$x": 0], ["_id": 1, "$x": 2],
                false
            ),
            (["_id": 1], ["_id": 1, "x": long], ["_id": 1], ["_id": 1, "x": long], true),
            (
                ["_id": 1], ["_id": 1, "x": long], ["_id": 1, "y": 1],
                ["_id": 1, "x": long, "y": 1], false
            ),
        ]

    private static let long = BSONValue.string(String(repeating: "x", count: 2_000))

    @Test(
        "A remote document is explained by a try that made it of the base",
        arguments: 0..<cases.count)
    func explains(number: Int) throws {
        let (base, intended, baseNow, remote, isExplained) = Self.cases[number]
        let given = tried(intended, from: base)
        #expect(given.explains(remote, over: baseNow) == isExplained)
        let stored = try #require(UnresolvedAttempt.document(of: [given, given]))
        #expect(UnresolvedAttempt.attempts(in: stored) == [given, given])
        #expect(stored.byteCount < 3_000)
    }

    @Test("A delete leaves nothing")
    func deletes() throws {
        let delete = tried(nil, from: ["_id": 1])
        #expect(delete.explains(nil, over: ["_id": 1]) && !delete.explains(["_id": 1], over: nil))
        let stored = try #require(UnresolvedAttempt.document(of: [delete, delete]))
        #expect(UnresolvedAttempt.attempts(in: stored) == [delete, delete])
    }

    @Test("What is damaged is no try")
    func damaged() {
        let op = Self.operation.value
        let wrong: [BSONValue] = [
            1, op, ["op": op], ["op": 1, "is": op], ["op": op, "is": "x"], ["is": .null],
            ["op": op, "set": [:]],
        ]
        #expect(UnresolvedAttempt.attempts(in: ["op": .array(BSONArray(wrong))]).isEmpty)
        #expect(UnresolvedAttempt.attempts(in: [:]).isEmpty)
        #expect(UnresolvedAttempt.document(of: []) == nil)
    }
}
