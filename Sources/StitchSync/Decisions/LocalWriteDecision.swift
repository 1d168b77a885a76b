/// A local write and the record that it meets, reduced to what decides.
struct LocalWriteFacts: Hashable {
    /// The document was there before.
    var existedBefore: Bool
    /// The document is there after.
    var existsAfter: Bool
    /// Before and after are the same content.
    var isUnchanged: Bool
    /// The document has a record: its id is synced.
    var hasRecord: Bool
    /// The remote never confirmed a document.
    var baseIsAbsent: Bool
    /// The content after equals the base's.
    var equalsBase: Bool
    /// An attempt was sent whose answer did not come.
    var hasOpenAttempt: Bool
    /// An attempt was given up, since nothing told of it, and may still land.
    var mayLandLate: Bool
    /// The document is paused.
    var isPaused: Bool
}

/// What a local write does to the record.
enum LocalWriteDecision: String, CaseIterable {
    /// Nothing changed: no record, no event.
    case nothing
    /// Make a record with an insert pending.
    case begin
    /// Keep the record; the change is pending.
    case markPending
    /// Keep the record; the document is back at its base, nothing is pending.
    case clearPending
    /// Remove the record: the document was never sent.
    case forget
    /// As `markPending`, and end the pause; the remote is looked at first.
    case resumePending
    /// As `clearPending`, and end the pause; the remote is looked at first.
    ///
    /// So is a document that was deleted here and may have landed since.
    case resumeClean

    /// Rules R2 and R3.
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
