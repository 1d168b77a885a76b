/// The answer of one of a role's conditions for a document.
public enum RuleAnswer: String, Sendable, Hashable, CaseIterable {
    /// The role has no such condition.
    case undefined
    /// The condition does not hold.
    case no
    /// The condition holds.
    case yes

    /// Makes the answer of an optional condition.
    init(_ flag: Bool?) {
        self = flag.map { $0 ? .yes : .no } ?? .undefined
    }
}

/// The facts that decide how much of a document is readable.
public struct ReadFacts: Sendable, Hashable {
    /// Whether the role has document filters.
    public let hasFilters: Bool
    /// The read filter's answer.
    public let readFilter: RuleAnswer
    /// The write filter's answer.
    public let writeFilter: RuleAnswer
    /// The answer of the role's `read`.
    public let read: RuleAnswer
    /// The answer of the role's `write`.
    public let write: RuleAnswer

    /// Takes the facts.
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

/// The readable part of a document.
public enum ReadDecision: String, Sendable, Hashable, CaseIterable {
    /// Nothing: the document is hidden.
    case hidden
    /// All of it.
    case whole
    /// The fields that the role names as readable.
    case fields

    /// Returns the decision; write permission includes read permission.
    public static func decide(_ facts: ReadFacts) -> ReadDecision {
        if facts.hasFilters, facts.readFilter != .yes, facts.writeFilter != .yes { return .hidden }
        switch (facts.read, facts.write) {
        case (.yes, _), (_, .yes): return .whole
        case (.no, _): return .hidden
        case (.undefined, .no), (.undefined, .undefined): return .fields
        }
    }
}
