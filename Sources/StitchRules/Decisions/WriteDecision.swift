/// Is what decides whether a write is allowed.
public struct WriteFacts: Sendable, Hashable {
    /// What is done to the document.
    public enum Kind: String, Sendable, Hashable, CaseIterable {
        /// It is new.
        case insert
        /// It is changed or replaced.
        case update
        /// It is removed.
        case delete
    }

    /// What is done.
    public let kind: Kind
    /// Whether the role has filters on documents at all.
    public let hasFilters: Bool
    /// The write filter's answer about the document before; of no meaning for an insert.
    public let filterBefore: RuleAnswer
    /// The write filter's answer about the document after; of no meaning for a delete.
    public let filterAfter: RuleAnswer
    /// The answer of the role's `write`.
    public let write: RuleAnswer
    /// The answer of the role's `insert`.
    public let insert: RuleAnswer
    /// The answer of the role's `delete`.
    public let delete: RuleAnswer
    /// Whether each field that differs may be written.
    public let mayWriteFields: Bool

    /// Takes the answers.
    public init(
        _ kind: Kind, hasFilters: Bool, filterBefore: RuleAnswer, filterAfter: RuleAnswer,
        write: RuleAnswer, insert: RuleAnswer, delete: RuleAnswer, mayWriteFields: Bool
    ) {
        self.kind = kind
        self.hasFilters = hasFilters
        self.filterBefore = filterBefore
        self.filterAfter = filterAfter
        self.write = write
        self.insert = insert
        self.delete = delete
        self.mayWriteFields = mayWriteFields
    }
}

/// Says whether a write is allowed, and which rule denies it.
public enum WriteDecision: String, Sendable, Hashable, CaseIterable {
    case allowed
    /// The write filter does not hold for the document as it is, or as it is inserted.
    case filterBefore
    /// The write filter does not hold for the document as it would be.
    case filterAfter
    /// The role's `insert` does not hold.
    case insert
    /// The role's `delete` does not hold.
    case delete
    /// The role's `write` does not hold.
    case write
    /// A field must not be written.
    case fields

    /// Decides, in the order in which a denial is explained: the filter, insert and delete, the
    /// fields, the document after.
    public static func decide(_ facts: WriteFacts) -> WriteDecision {
        let filter = facts.kind == .insert ? facts.filterAfter : facts.filterBefore
        if facts.hasFilters, filter != .yes { return .filterBefore }
        switch facts.kind {
        case .insert:
            return isGiven(facts.insert, facts.write) ? content(facts) : .insert
        case .delete:
            return isGiven(facts.delete, facts.write) ? .allowed : .delete
        case .update:
            let decision = content(facts)
            guard decision == .allowed, facts.hasFilters, facts.filterAfter != .yes else {
                return decision
            }
            return .filterAfter
        }
    }

    /// `insert` and `delete` that are not said follow `write`.
    private static func isGiven(_ answer: RuleAnswer, _ write: RuleAnswer) -> Bool {
        switch answer {
        case .yes: true
        case .no: false
        case .undefined: write == .yes
        }
    }

    private static func content(_ facts: WriteFacts) -> WriteDecision {
        switch facts.write {
        case .yes: .allowed
        case .no: .write
        case .undefined: facts.mayWriteFields ? .allowed : .fields
        }
    }
}
