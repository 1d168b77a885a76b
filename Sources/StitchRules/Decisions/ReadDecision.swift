/// Is the answer to one of the questions that a role puts to a document.
public enum RuleAnswer: String, Sendable, Hashable, CaseIterable {
    /// The role does not ask.
    case undefined
    /// The condition does not hold.
    case no
    /// The condition holds.
    case yes

    /// The answer of a condition that may be missing.
    init(_ flag: Bool?) {
        self = flag.map { $0 ? .yes : .no } ?? .undefined
    }
}

/// Is what decides how much of a document may be read.
public struct ReadFacts: Sendable, Hashable {
    /// Whether the role has filters on documents at all.
    public let hasFilters: Bool
    /// The read filter's answer.
    public let readFilter: RuleAnswer
    /// The write filter's answer.
    public let writeFilter: RuleAnswer
    /// The answer of the role's `read`.
    public let read: RuleAnswer
    /// The answer of the role's `write`.
    public let write: RuleAnswer

    /// Takes the answers.
    public init(
        hasFilters: Bool, readFilter: RuleAnswer, writeFilter: RuleAnswer, read: RuleAnswer,
        write: RuleAnswer
    ) {
        self.hasFilters = hasFilters
        self.readFilter = readFilter
        self.writeFilter = writeFilter
        self.read = read
        self.write = write
    }
}

/// Says how much of a document may be read.
public enum ReadDecision: String, Sendable, Hashable, CaseIterable {
    /// Nothing: the document is not there.
    case hidden
    /// All of it.
    case whole
    /// The fields that the role names as readable.
    case fields

    /// Decides; what may be written may be read.
    public static func decide(_ facts: ReadFacts) -> ReadDecision {
        if facts.hasFilters, facts.readFilter != .yes, facts.writeFilter != .yes { return .hidden }
        switch (facts.read, facts.write) {
        case (.yes, _), (_, .yes): return .whole
        case (.no, _): return .hidden
        case (.undefined, .no), (.undefined, .undefined): return .fields
        }
    }
}
