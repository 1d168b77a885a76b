internal import BSONStore

/// The attempts of one batch, and the last record that was considered.
struct OutgoingBatch: Sendable {
    var attempts: [OutgoingAttempt] = []
    /// Changes that are not uploaded, since no subscription matches them.
    var refused: [OutOfViewChange] = []
    /// Errors of documents that are not uploaded, since they are missing without a delete.
    var missing: [SyncError] = []
    /// The place where the attempts are stored together.
    var place: AttemptBatchTable.Place?
    var lastRow: Int64?
    /// Whether more changes may follow that did not fit.
    var isFull = false
}
