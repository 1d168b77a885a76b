/// The facts about a record before its upload.
struct UploadFacts: Hashable {
    var pending: PendingChange
    var isPaused: Bool
    /// Whether an attempt was sent and its answer did not arrive.
    var hasOpenAttempt: Bool
    /// Whether the remote edition has to be fetched first.
    var isStale: Bool
    /// Whether this pass resolved a conflict, whose resolution the next pass uploads.
    var isHeldBack: Bool
    /// Whether the base has a foreign version field.
    var isForeign: Bool
    /// Whether dotted paths can describe the difference between base and local document.
    var hasPaths: Bool
}

/// The write that uploads a record's change.
enum UploadDecision: String, CaseIterable {
    /// Send nothing: no change is pending.
    case nothing
    /// Wait: the document is paused, foreign or stale, has an open attempt, or was resolved in this
    /// pass.
    case wait
    /// Insert the local document.
    case insert
    /// Set and unset the changed paths.
    case update
    /// Replace the whole document, since paths cannot describe the change.
    case replace
    /// Delete the remote document.
    case delete

    /// Decides by rules R2, R3 and R6.
    static func decide(_ facts: UploadFacts) -> Self {
        let waits =
            facts.isPaused || facts.hasOpenAttempt || facts.isStale || facts.isHeldBack
            || facts.isForeign
        switch facts.pending {
        case .none: return .nothing
        case .insert: return waits ? .wait : .insert
        case .update: return waits ? .wait : facts.hasPaths ? .update : .replace
        case .delete: return waits ? .wait : .delete
        }
    }
}
