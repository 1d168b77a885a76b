/// Is a refusal of the remote, and what the app wants to become of such.
struct RejectionFacts: Hashable {
    /// What the app chose.
    enum Rule: String, CaseIterable {
        /// What rules refuse is taken back, everything else pauses its document.
        case standard
        /// Everything that is refused is taken back.
        case revert
        /// Everything that is refused pauses its document.
        case pause
        /// The app is asked.
        case ask
    }

    var rule: Rule
    /// Rules or subscriptions are the reason, not the content.
    var isCompensating: Bool
    /// The app was asked about the document as often as is allowed, each time in vain.
    var askedOften: Bool
}

/// What becomes of a change that the remote refused for good.
enum RejectionDecision: String, CaseIterable {
    /// Take it back, and keep what was written among the rejected writes.
    case revert
    /// Keep it, and pause the document.
    case pause
    /// Pause the document, and ask the app.
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

/// Is the app's answer about a refused write, and what happened while it was thought about.
struct RejectionAnswerFacts: Hashable {
    /// What the app said.
    enum Answer: String, CaseIterable {
        case revert
        case keepPaused
        /// The app gave another document.
        case edit
        /// The app's closure threw, or took too long.
        case failure
    }

    var answer: Answer
    /// The document is paused as it was when the app was asked.
    var isUnchanged: Bool
    /// The edited document is what was refused.
    var editChangesNothing: Bool
}

/// What becomes of the app's answer.
enum RejectionAnswerDecision: String, CaseIterable {
    /// The app wrote meanwhile, or resumed the document: the question is void.
    case void
    /// Take the change back.
    case revert
    /// Leave the document paused.
    case keepPaused
    /// Store the edited document, and let it take part again.
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

/// Is a rejected write that is to be tried again, and the document as it is now.
struct RetryFacts: Hashable {
    /// What was wanted is a document, not a deletion.
    var wantsDocument: Bool
    /// The document was at the remote when it was written.
    var hadBase: Bool
    /// The document is here now.
    var existsNow: Bool
    /// The document is now what the write was made from.
    var isAtBase: Bool
    /// The app gave the document anew.
    var isEdited: Bool
}

/// How a rejected write is made again.
enum RetryDecision: String, CaseIterable {
    /// It is done already.
    case nothing
    /// Store the wanted document whole.
    case put
    /// Make the same changes to the document as it is now.
    case merge
    /// Delete the document.
    case delete
    /// Another document has the `_id` by now.
    case occupied

    static func decide(_ facts: RetryFacts) -> Self {
        guard facts.wantsDocument else { return facts.existsNow ? .delete : .nothing }
        guard facts.existsNow, !facts.isEdited else { return .put }
        guard facts.hadBase else { return .occupied }
        return facts.isAtBase ? .put : .merge
    }
}
