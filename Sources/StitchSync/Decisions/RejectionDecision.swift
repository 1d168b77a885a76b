/// The facts about a remote's refusal, and the app's policy.
struct RejectionFacts: Hashable {
    /// The app's choice.
    enum Rule: String, CaseIterable {
        /// Revert changes that rules forbid; pause the documents of others.
        case standard
        /// Revert every refused change.
        case revert
        /// Pause the document of every refused change.
        case pause
        /// Ask the app.
        case ask
    }

    var rule: Rule
    /// Whether rules or subscriptions are the reason, not the content.
    var isCompensating: Bool
    /// Whether the app's closure has failed for the document the maximum number of times.
    var askedOften: Bool
}

/// The treatment of a change that the remote refused permanently.
enum RejectionDecision: String, CaseIterable {
    /// Revert the change and keep it among the rejected writes.
    case revert
    /// Keep the change and pause the document.
    case pause
    /// Pause the document and ask the app.
    case ask

    static func decide(_ facts: RejectionFacts) -> Self {
        switch facts.rule {
        case .standard: facts.isCompensating ? .revert : .pause
        case .revert: .revert
        case .pause: .pause
        case .ask: facts.askedOften ? .pause : .ask
        }
    }
}

/// The app's decision about a refused write, and the events meanwhile.
struct RejectionAnswerFacts: Hashable {
    /// The app's decision.
    enum Answer: String, CaseIterable {
        case revert
        case keepPaused
        /// The app returned another document.
        case edit
        /// The app's closure threw, or took too long.
        case failure
    }

    var answer: Answer
    /// Whether the document is still paused as it was when the app was asked.
    var isUnchanged: Bool
    /// Whether the edited document equals the refused one.
    var editChangesNothing: Bool
}

/// The treatment of the app's decision.
enum RejectionAnswerDecision: String, CaseIterable {
    /// Ignore the decision: the app wrote or resumed the document meanwhile.
    case void
    /// Revert the change.
    case revert
    /// Leave the document paused.
    case keepPaused
    /// Store the edited document and end its pause.
    case edit

    static func decide(_ facts: RejectionAnswerFacts) -> Self {
        guard facts.isUnchanged else { return .void }
        switch facts.answer {
        case .revert: return .revert
        case .keepPaused, .failure: return .keepPaused
        case .edit: return facts.editChangesNothing ? .keepPaused : .edit
        }
    }
}

/// The facts about a rejected write to repeat, and the current document.
struct RetryFacts: Hashable {
    /// Whether the write wanted a document, not a delete.
    var wantsDocument: Bool
    /// Whether the remote held the document at the time of the write.
    var hadBase: Bool
    /// Whether the document exists locally now.
    var existsNow: Bool
    /// Whether the current document equals the base of the write.
    var isAtBase: Bool
}

/// The way in which a rejected write is repeated.
enum RetryDecision: String, CaseIterable {
    /// Do nothing: the document is deleted already.
    case nothing
    /// Store the whole wanted document.
    case put
    /// Apply the same changes to the current document.
    case merge
    /// Delete the document.
    case delete
    /// Fail: another document has the `_id` now.
    case occupied

    static func decide(_ facts: RetryFacts) -> Self {
        guard facts.wantsDocument else { return facts.existsNow ? .delete : .nothing }
        guard facts.existsNow else { return .put }
        guard facts.hadBase else { return .occupied }
        return facts.isAtBase ? .put : .merge
    }
}
