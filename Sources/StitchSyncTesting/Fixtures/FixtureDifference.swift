internal import BSONStore

/// Names one thing that is not what a fixture expects.
public struct FixtureDifference: Sendable, Hashable, CustomStringConvertible {
    /// What was looked at, such as `local document`.
    public let what: String
    /// What was expected.
    public let expected: String
    /// What was there.
    public let actual: String
    /// For documents, each field that differs: its dotted path, what was expected and what was there.
    public let fields: [String]

    /// The difference on a few lines.
    public var description: String {
        var lines = [what, "  expected \(expected)", "  got      \(actual)"]
        lines += fields.map { "  at \($0)" }
        return lines.joined(separator: "\n")
    }

    /// Compares documents by content, field by field; the order of fields does not count.
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

    /// Both values in the relaxed form, or, where that hides the types that differ, the canonical one.
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

/// Says that fixtures did not come out as they expect; its description is for people to read.
public struct FixtureFailure: Error, Sendable, CustomStringConvertible {
    /// The fixtures that failed, with what differs.
    public let failures: [(fixture: ConflictFixture, differences: [FixtureDifference])]
    /// How many were played.
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
