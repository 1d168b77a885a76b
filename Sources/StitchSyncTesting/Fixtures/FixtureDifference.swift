internal import BSONStore

/// One difference between the outcome of a fixture and the expected one.
///
/// ```swift
/// for difference in try await fixture.differences(handler: .remoteWins) {
///     print(difference.what, difference.fields)
/// }
/// ```
public struct FixtureDifference: Sendable, Hashable, CustomStringConvertible {
    /// The compared part, such as `local document`.
    public let what: String
    /// The expected value.
    public let expected: String
    /// The actual value.
    public let actual: String
    /// The differing fields of documents, each with its dotted path and both values.
    public let fields: [String]

    /// The difference on a few lines.
    public var description: String {
        var lines = [what, "  expected \(expected)", "  got      \(actual)"]
        lines += fields.map { "  at \($0)" }
        return lines.joined(separator: "\n")
    }

    /// Compares documents by content, field by field, in any order.
    static func between(
        _ what: String, _ expected: BSONDocument?, _ actual: BSONDocument?
    ) -> [FixtureDifference] {
        let isSame =
            switch (expected, actual) {
            case (nil, nil): true
            case (let expected?, let actual?): expected.contentEquals(actual)
            case (nil, _), (_, nil): false
            }
        if isSame { return [] }
        var fields: [String] = []
        if let expected, let actual {
            compare(.document(expected), .document(actual), at: "", &fields)
        }
        return [
            texts(expected.map(BSONValue.document), actual.map(BSONValue.document)) {
                FixtureDifference(what: what, expected: $0, actual: $1, fields: fields)
            }
        ]
    }

    private static func compare(
        _ expected: BSONValue?, _ actual: BSONValue?, at path: String, _ fields: inout [String]
    ) {
        switch (expected, actual) {
        case (nil, nil): return
        case (.document(let left)?, .document(let right)?):
            for key in left.keys + right.keys.filter({ left[$0] == nil }) {
                compare(left[key], right[key], at: path.isEmpty ? key : "\(path).\(key)", &fields)
            }
        case (let left?, let right?) where left.contentEquals(right): return
        default:
            texts(expected, actual) { fields.append("\(path): expected \($0), got \($1)") }
        }
    }

    /// Passes both values to a closure in relaxed form, or in canonical form where only types
    /// differ.
    private static func texts<Result>(
        _ expected: BSONValue?, _ actual: BSONValue?, _ body: (String, String) -> Result
    ) -> Result {
        func text(_ value: BSONValue?, _ form: ExtendedJSONFormat) -> String {
            value?.extendedJSON(form) ?? "nothing"
        }
        let relaxed = (text(expected, .relaxed), text(actual, .relaxed))
        if relaxed.0 != relaxed.1 { return body(relaxed.0, relaxed.1) }
        return body(text(expected, .canonical), text(actual, .canonical))
    }
}

/// The failures of a set of fixtures, with a readable description.
///
/// ```swift
/// do {
///     try await checkConflicts(in: "fixtures/conflicts", handler: .remoteWins)
/// } catch let failure as FixtureFailure {
///     print("\(failure.failures.count) of \(failure.played) failed")
/// }
/// ```
public struct FixtureFailure: Error, Sendable, CustomStringConvertible {
    /// The failed fixtures with their differences.
    public let failures: [(fixture: ConflictFixture, differences: [FixtureDifference])]
    /// The number of played fixtures.
    public let played: Int

    /// Each fixture with its differences.
    public var description: String {
        let parts = failures.map { failure in
            let lines = failure.differences.flatMap {
                $0.description.split(separator: "\n").map { "  \($0)" }
            }
            return (["\(failure.fixture)"] + lines).joined(separator: "\n")
        }
        let head = "\(failures.count) of \(played) fixtures failed"
        return ([head] + parts).joined(separator: "\n\n")
    }
}
