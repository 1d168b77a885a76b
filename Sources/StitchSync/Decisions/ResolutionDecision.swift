/// A conflict handler's answer, reduced to what decides.
struct ResolutionFacts: Hashable {
    /// The answer is a document, not a delete.
    var answerExists: Bool
    /// The remote holds a document.
    var remoteExists: Bool
    /// The answer equals what the remote holds; both absent counts as equal.
    var answerEqualsRemote: Bool
    /// The answer's `_id` is the conflict's, or it has none.
    var idMatches: Bool
    /// The answer fits into a document with its version.
    var fits: Bool
}

/// What to do with a conflict handler's answer.
enum ResolutionDecision: String, CaseIterable {
    /// Both sides end without the document.
    case finishDelete
    /// Delete here; the delete of what the remote holds is pending.
    case deletePending
    /// Take the remote's edition.
    case takeRemote
    /// Keep the answer; its insert is pending, since the remote has no document.
    case insertPending
    /// Keep the answer; its difference from the remote's edition is pending.
    case updatePending
    /// Pause: the answer names another document.
    case pauseOtherID
    /// Pause: the answer is too large.
    case pauseTooLarge

    /// Rows CR-1 to CR-6 of the ancestor, with base := remote throughout.
    static func decide(_ facts: ResolutionFacts) -> Self {
        guard facts.answerExists else {
            return facts.remoteExists ? .deletePending : .finishDelete
        }
        guard facts.idMatches else { return .pauseOtherID }
        guard facts.fits else { return .pauseTooLarge }
        guard facts.remoteExists else { return .insertPending }
        return facts.answerEqualsRemote ? .takeRemote : .updatePending
    }
}
