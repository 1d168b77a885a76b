/// The facts about a conflict handler's answer.
struct ResolutionFacts: Hashable {
    /// Whether the answer is a document, not a delete.
    var answerExists: Bool
    /// Whether the remote holds a document.
    var remoteExists: Bool
    /// Whether the answer equals the remote's edition; two absent documents are equal.
    var answerEqualsRemote: Bool
    /// Whether the answer has the conflict's `_id`, or none.
    var idMatches: Bool
    /// Whether the answer with its version field is within the size limit.
    var fits: Bool
}

/// The treatment of a conflict handler's answer.
enum ResolutionDecision: String, CaseIterable {
    /// Remove the record: the document exists on neither side.
    case finishDelete
    /// Delete the local document; the delete of the remote's is pending.
    case deletePending
    /// Take the remote's edition.
    case takeRemote
    /// Store the answer; its insert is pending, since the remote has no document.
    case insertPending
    /// Store the answer; its difference from the remote's edition is pending.
    case updatePending
    /// Pause the document: the answer has another `_id`.
    case pauseOtherID
    /// Pause the document: the answer is too large.
    case pauseTooLarge

    /// Decides; the remote's edition becomes the base, except where the document is paused.
    ///
    /// Source: the resolution of conflicts of MongoDB Stitch's Mobile Sync.
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
