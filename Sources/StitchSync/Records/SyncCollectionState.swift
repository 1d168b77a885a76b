internal import BSONStore

/// A collection's row in the engine's tables: how far its sync has come.
struct SyncCollectionState {
    let rowID: Int64
    let namespace: Namespace
    /// The last read position in the remote's history.
    var token: ResumeToken?
    /// Whether events may have been missed, so that all versions have to be compared.
    var needsScan: Bool
    /// Whether the comparison follows a drop that the app treats as a delete of each document.
    var isAfterDrop = false
    /// Whether a query was refused after the last gap in the history, so that documents which match it
    /// may be missing.
    var owesNewcomers = false
    /// Whether there is a listener, so that events are stored.
    var listens: Bool
    /// Whether the collection has, or had, a subscription.
    var isSubscribed = false
    /// The identity of the synced remote collection; `nil` until one was adopted.
    var identity: RemoteIdentity?
    /// The reason of the collection's stop; `nil` while it syncs.
    var stop: SyncStop?
    /// The last position in a lost history, until all versions are compared.
    var lostToken: ResumeToken?
    /// Whether there are wanted ids without records, see ``WantedIDs``.
    var hasWantedIDs = false
    /// Whether there are batched attempts, see ``AttemptBatch``.
    var hasAttempts = false
}
