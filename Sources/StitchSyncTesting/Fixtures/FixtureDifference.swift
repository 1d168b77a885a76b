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

    /// Compares documents by content, field by field, in any order, and numbers by value.
    static func between(
        _ what: String, _ expected: BSONDocument?, _ actual: BSONDocument?
    ) -> [FixtureDifference] {
        let (expected, actual) = (
            expected.map(BSONValue.document), actual.map(BSONValue.document)
        )
        if isSame(expected, actual) { return [] }
        var fields: [String] = []
        if expected != nil, actual != nil { compare(expected, actual, at: "", &fields) }
        return [
            FixtureDifference(
                what: what, expected: text(expected), actual: text(actual), fields: fields)
        ]
    }

    private static func compare(
        _ expected: BSONValue?, _ actual: BSONValue?, at path: String, _ fields: inout [String]
    ) {
        switch (expected, actual) {
        case (.document(let left)?, .document(let right)?):
            for key in keys(left, right) {
                compare(left[key], right[key], at: path.isEmpty ? key : "\(path).\(key)", &fields)
            }
        default:
            guard !isSame(expected, actual) else { return }
            fields.append("\(path): expected \(text(expected)), got \(text(actual))")
        }
    }

    /// Whether values have the same content; numbers may have different types.
    private static func isSame(_ left: BSONValue?, _ right: BSONValue?) -> Bool {
        switch (left, right) {
        case (nil, nil): return true
        case (.document(let left)?, .document(let right)?):
            return keys(left, right).allSatisfy { isSame(left[$0], right[$0]) }
        case (.array(let left)?, .array(let right)?):
            let (left, right) = (left.values, right.values)
            return left.count == right.count && zip(left, right).allSatisfy { isSame($0, $1) }
        case (let left?, let right?):
            if left.isNumber, right.isNumber { return BSONOrder.compare(left, right) == .equal }
            return left.contentEquals(right)
        case (nil, _), (_, nil): return false
        }
    }

    private static func keys(_ left: BSONDocument, _ right: BSONDocument) -> [String] {
        left.keys + right.keys.filter { left[$0] == nil }
    }

    private static func text(_ value: BSONValue?) -> String {
        value?.extendedJSON(.relaxed) ?? "nothing"
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
        let head = "\(failures.count) of \(played == 1 ? "1 fixture" : "\(played) fixtures") failed"
        return ([head] + parts).joined(separator: "\n\n")
    }
}
