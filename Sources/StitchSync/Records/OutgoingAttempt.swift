internal import BSONStore

/// A stored attempt that may be sent; a class, since lists of them are copied often.
final class OutgoingAttempt: Sendable {
    /// The record, with the attempt in it.
    let record: SyncRecord
    let write: RemoteWrite
    let kind: AttemptBatch.Kind
    /// The local document at the time of the upload.
    let local: BSONDocument?

    init(
        record: SyncRecord, write: RemoteWrite, kind: AttemptBatch.Kind, local: BSONDocument?
    ) {
        self.record = record
        self.write = write
        self.kind = kind
        self.local = local
    }

    /// Returns whether the answer makes the stored base outdated; outdated bases are removed together,
    /// which is cheaper.
    func leavesBase(after outcome: RemoteWriteOutcome) -> Bool {
        outcome == .applied && kind != .delete && record.storedBase != nil
    }
}
