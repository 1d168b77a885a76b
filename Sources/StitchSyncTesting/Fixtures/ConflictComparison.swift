internal import BSONStore

/// A recorded conflict, compared with the result of another handler.
///
/// ```swift
/// let changed = try await compareConflicts(in: "fixtures/fleet.json", handler: handler)
///     .filter { !$0.isSame }
/// ```
public struct ConflictComparison: Sendable, CustomStringConvertible {
    /// The recorded conflict.
    public let fixture: ConflictFixture
    /// The differences between the recorded result and that of the handler.
    public let differences: [FixtureDifference]

    package init(fixture: ConflictFixture, differences: [FixtureDifference]) {
        self.fixture = fixture
        self.differences = differences
    }

    /// Whether the handler gives the recorded result.
    public var isSame: Bool { differences.isEmpty }

    /// The dotted paths of the fields whose results differ, each once.
    public var fields: [String] {
        var paths: [String] = []
        for difference in differences {
            for line in difference.fields {
                let path = String(line.split(separator: ": expected ", maxSplits: 1).first ?? "")
                if !paths.contains(where: { $0.hasSameBytes(as: path) }) { paths.append(path) }
            }
        }
        return paths
    }

    /// The fixture's name with `same`, or with the fields or parts that differ.
    public var description: String {
        guard !isSame else { return "\(fixture.name): same" }
        let parts = fields.isEmpty ? differences.map(\.what) : fields
        return "\(fixture.name): differs: \(parts.joined(separator: ", "))"
    }
}
