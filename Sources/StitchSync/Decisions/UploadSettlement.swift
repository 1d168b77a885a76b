/// What the remote said to an attempt, and what the app did meanwhile.
struct UploadOutcomeFacts: Hashable {
    /// The answer's class (rule R7).
    enum Outcome: String, CaseIterable {
        /// The write is in, durably.
        case applied
        /// The condition did not hold: somebody else was there, or the document is gone.
        case notMatched
        /// There is a document of that `_id` already.
        case duplicateKey
        /// The remote refuses the content or the writer; trying again is no use.
        case rejected
        /// No answer, or one that may pass: nobody knows whether it is in.
        case retryable
    }

    var outcome: Outcome
    /// The attempt was a delete.
    var wasDelete: Bool
    /// The local document is there now.
    var localExists: Bool
    /// The local document is still what the attempt intended; absent for a delete.
    var localUnchanged: Bool
    /// This attempt has failed as often as is allowed.
    var triedOften: Bool
    /// What becomes of it if it is refused.
    var onRejection = RejectionDecision.pause
}

/// What to do with an answer.
enum UploadSettlement: String, CaseIterable {
    /// What was intended is the base, and nothing is pending.
    case confirm
    /// What was intended is the base; what the app wrote meanwhile is pending.
    case confirmAndKeepPending
    /// The delete is in and the document is gone on both sides: the record ends.
    case finishDelete
    /// The delete is in, but the app inserted anew: the insert is pending on nothing.
    case finishDeleteAndKeepInsert
    /// It did not land: forget the attempt and look at the remote.
    case lookAgain
    /// Keep the attempt; evidence will settle it.
    case keepAttempt
    /// Keep the change and pause the document with the remote's reason.
    case pauseRejected
    /// Take the change back, and keep what was written among the rejected writes.
    case revertRejected
    /// Keep the change, pause the document, and ask the app.
    case askRejected
    /// Keep the attempt and pause the document: it failed too often.
    case pauseExhausted

    /// Rules R3 and R7.
    static func decide(_ facts: UploadOutcomeFacts) -> Self {
        switch facts.outcome {
        case .applied:
            if facts.wasDelete {
                return facts.localExists ? .finishDeleteAndKeepInsert : .finishDelete
            }
            return facts.localUnchanged ? .confirm : .confirmAndKeepPending
        case .notMatched, .duplicateKey: return .lookAgain
        case .rejected: return Self(facts.onRejection)
        case .retryable: return facts.triedOften ? .pauseExhausted : .keepAttempt
        }
    }

    /// What to do with a change that is refused.
    init(_ decision: RejectionDecision) {
        self =
            switch decision {
            case .revert: .revertRejected
            case .pause: .pauseRejected
            case .ask: .askRejected
            }
    }
}
