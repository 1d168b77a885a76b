/// The remote's answer to an attempt, and the app's writes meanwhile.
struct UploadOutcomeFacts: Hashable {
    /// The class of the answer (rule R7).
    enum Outcome: String, CaseIterable {
        /// The write is durable.
        case applied
        /// The condition did not hold: another client changed or deleted the document.
        case notMatched
        /// A document with the `_id` exists already.
        case duplicateKey
        /// Another document has a value that must be unique; it may give it up in the same pass.
        case valueTaken
        /// The remote refuses the change for good: its content, or by a rule.
        case rejected
        /// No answer, or a temporary error: the write may or may not be applied.
        case retryable
    }

    var outcome: Outcome
    /// Whether the attempt was a delete.
    var wasDelete: Bool
    /// Whether the local document exists now.
    var localExists: Bool
    /// Whether the local document still equals the attempt's; for a delete, whether it is absent.
    var localUnchanged: Bool
    /// Whether the attempt has failed the maximum number of times.
    var triedOften: Bool
    /// The treatment if the outcome is ``Outcome/rejected``.
    var onRejection = RejectionDecision.pause
}

/// The treatment of an answer.
enum UploadSettlement: String, CaseIterable {
    /// Make the attempt's document the base; nothing is pending.
    case confirm
    /// Make the attempt's document the base; the app's later writes are pending.
    case confirmAndKeepPending
    /// Remove the record: the document is deleted on both sides.
    case finishDelete
    /// Clear the base: the delete is applied, but the app inserted the document again.
    case finishDeleteAndKeepInsert
    /// Remove the attempt, which was not applied, if the record still has it; fetch the remote
    /// edition.
    case fetchAgain
    /// Remove the attempt, which was not applied; the change is sent again at the end of the
    /// upload, together with those that want each other's values.
    case sendTogether
    /// Keep the attempt until evidence settles it.
    case keepAttempt
    /// Keep the change and pause the document with the remote's reason.
    case pauseRejected
    /// Revert the change and keep it among the rejected writes.
    case revertRejected
    /// Keep the change, pause the document and ask the app.
    case askRejected
    /// Keep the attempt, which failed too often, and pause the document.
    case pauseExhausted

    /// Decides by rules R3 and R7.
    static func decide(_ facts: UploadOutcomeFacts) -> Self {
        switch facts.outcome {
        case .applied:
            if facts.wasDelete {
                return facts.localExists ? .finishDeleteAndKeepInsert : .finishDelete
            }
            return facts.localUnchanged ? .confirm : .confirmAndKeepPending
        case .notMatched, .duplicateKey: return .fetchAgain
        case .valueTaken: return .sendTogether
        case .rejected: return Self(facts.onRejection)
        case .retryable: return facts.triedOften ? .pauseExhausted : .keepAttempt
        }
    }

    /// Returns the settlement of a refused change.
    init(_ decision: RejectionDecision) {
        self =
            switch decision {
            case .revert: .revertRejected
            case .pause: .pauseRejected
            case .ask: .askRejected
            }
    }
}
