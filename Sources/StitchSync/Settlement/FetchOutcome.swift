internal import BSONStore

/// The outcome of a fetched document's settlement.
enum FetchOutcome: Sendable {
    case nothing
    case taken
    case removed
    /// The local row was missing without a change: the document was downloaded again, and the
    /// error is reported once.
    case renewed(SyncError)
    /// The document is missing at the remote for a reason that is not known yet.
    case missing
    /// The document was evicted: no subscription matches it any more.
    case evicted
    case foreign
    case claim(SyncRecord)
    case conflict(OpenConflict)
    /// A conflict was resolved by a fixed resolution.
    case resolvedAtOnce(ResolutionOutcome, OpenConflict)
    /// A change was refused, since the user may no longer read the document.
    case refused(OutOfViewChange)
    /// The document cannot be stored, or its record cannot be read; it is paused where that can
    /// be stored.
    case failed(SyncError)
}
