internal import BSONStore

/// The outcome of a fetched document's settlement.
enum FetchOutcome: Sendable {
    /// Nothing that the pass counts; the record may have changed.
    case nothing
    /// The local document now equals the remote's, which it did not before.
    case taken
    /// The document was deleted at the remote, and exists on neither side now.
    case removed
    /// The local row was missing without a change: the document was downloaded again, and the
    /// error is reported once.
    case renewed(SyncError)
    /// The document is missing at the remote for a reason that is not known yet.
    case missing
    /// The document was evicted: no subscription matches it any more.
    case evicted
    /// The version field of the remote's document cannot be read; the app gets an error.
    case foreign
    /// The remote's document has no version: it gets one, and is then fetched again.
    case claim(SyncRecord)
    /// Both sides changed, and the handler is asked after the commit.
    case conflict(OpenConflict)
    /// A conflict was resolved by a fixed resolution.
    case resolvedAtOnce(ResolutionOutcome, OpenConflict)
    /// A change was refused, since the user may no longer read the document.
    case refused(OutOfViewChange)
    /// The document cannot be stored, or its record cannot be read; it is paused where that can
    /// be stored.
    case failed(SyncError)
}
