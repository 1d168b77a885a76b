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
    var isDenied: Bool
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
        case .standard: facts.isDenied ? .revert : .pause
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
