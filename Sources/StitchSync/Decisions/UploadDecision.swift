/// What is known of a record when its turn to be sent comes.
struct UploadFacts: Hashable {
    var pending: PendingChange
    var isPaused: Bool
    /// An attempt was sent and its answer did not come.
    var hasOpenAttempt: Bool
    /// The remote is to be looked at first.
    var isStale: Bool
    /// A conflict was resolved in this pass; the answer is sent by the next one.
    var resolvedInThisPass: Bool
    /// The base's version field is not ours.
    var isForeign: Bool
    /// Base and change can be told apart by dotted paths.
    var hasPaths: Bool
}

/// What to send for a record.
enum UploadDecision: String, CaseIterable {
    /// Nothing is pending.
    case nothing
    /// Not now: paused, foreign, to be looked at first, or resolved in this pass.
    case wait
    /// Insert the local document.
    case insert
    /// Set and unset the paths that changed.
    case update
    /// Replace the document whole, since a path cannot name what changed.
    case replace
    /// Delete the remote document.
    case delete

    /// Rules R2, R3 and R6.
    static func decide(_ facts: UploadFacts) -> Self {
        let waits =
            facts.isPaused || facts.hasOpenAttempt || facts.isStale || facts.resolvedInThisPass
            || facts.isForeign
        switch facts.pending {
        case .none: return .nothing
        case .insert: return waits ? .wait : .insert
        case .update: return waits ? .wait : facts.hasPaths ? .update : .replace
        case .delete: return waits ? .wait : .delete
        }
    }
}
