/// The facts about a local write and the document's record.
struct LocalWriteFacts: Hashable {
    /// Whether the document existed before the write.
    var existedBefore: Bool
    /// Whether the document exists after the write.
    var existsAfter: Bool
    /// Whether the write left the content unchanged.
    var isUnchanged: Bool
    /// Whether the document has a record, so that its id is synced.
    var hasRecord: Bool
    /// Whether the remote never confirmed a document.
    var baseIsAbsent: Bool
    /// Whether the content after the write equals the base's.
    var equalsBase: Bool
    /// Whether an attempt was sent and its answer did not arrive.
    var hasOpenAttempt: Bool
    /// Whether the remote may still apply an unresolved attempt, for which no evidence was found.
    var mayLandLate: Bool
    /// Whether the document is paused.
    var isPaused: Bool
}

/// The effect of a local write on the record.
enum LocalWriteDecision: String, CaseIterable {
    /// Do nothing: the content is unchanged, so there is no event either.
    case nothing
    /// Make a record with a pending insert.
    case begin
    /// Keep the record; the change is pending.
    case markPending
    /// Keep the record; the document equals its base again, so nothing is pending.
    case clearPending
    /// Remove the record: the document was never sent.
    case forget
    /// Do as `markPending`, and end the pause; the next pass fetches the remote edition first.
    case resumePending
    /// Do as `clearPending`, and end the pause; the next pass fetches the remote edition first.
    ///
    /// Also chosen for a deleted document whose unresolved insert the remote may still apply.
    case resumeClean

    /// Decides by rules R2 and R3.
    static func decide(_ facts: LocalWriteFacts) -> Self {
        if facts.existedBefore == facts.existsAfter && facts.isUnchanged { return .nothing }
        guard facts.hasRecord else { return facts.existsAfter ? .begin : .forget }
        if !facts.existsAfter && facts.baseIsAbsent && !facts.hasOpenAttempt {
            return facts.mayLandLate ? .resumeClean : .forget
        }
        let clean = facts.equalsBase && !facts.hasOpenAttempt
        if facts.isPaused { return clean ? .resumeClean : .resumePending }
        return clean ? .clearPending : .markPending
    }
}
