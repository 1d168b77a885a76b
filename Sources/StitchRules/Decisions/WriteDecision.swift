/// The facts that decide whether a write is allowed.
public struct WriteFacts: Sendable, Hashable {
    /// The kind of write.
    public enum Kind: String, Sendable, Hashable, CaseIterable {
        /// A new document.
        case insert
        /// A change or replacement of a document.
        case update
        /// A removal of a document.
        case delete
    }

    /// The kind of write.
    public let kind: Kind
    /// Whether the role has document filters.
    public let hasFilters: Bool
    /// The write filter's answer for the document before; an insert is decided by ``filterAfter``.
    public let filterBefore: RuleAnswer
    /// The write filter's answer for the document after; meaningless for a delete.
    public let filterAfter: RuleAnswer
    /// The answer of the role's `write`.
    public let write: RuleAnswer
    /// The answer of the role's `insert`.
    public let insert: RuleAnswer
    /// The answer of the role's `delete`.
    public let delete: RuleAnswer
    /// Whether every differing field is writable.
    public let mayWriteFields: Bool

    /// Takes the facts.
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

/// The decision about a write, with the rule that denies it.
public enum WriteDecision: String, Sendable, Hashable, CaseIterable {
    case allowed
    /// The write filter fails for the document before, or for the inserted one, which has none
    /// before it.
    case filterBefore
    /// The write filter fails for the document after.
    case filterAfter
    /// The role's `insert` fails.
    case insert
    /// The role's `delete` fails.
    case delete
    /// The role's `write` fails.
    case write
    /// A changed field is not writable.
    case fields

    /// Returns the decision; a denial names the first failure of: the filter, insert and delete,
    /// the fields, the document after.
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

    /// Whether a permission is granted; an unspecified `insert` or `delete` follows `write`.
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
