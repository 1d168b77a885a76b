internal import BSONStore

/// An attempt that is stored and may be sent; a class, since lists of them are copied often.
final class OpenAttempt: Sendable {
    /// The record, with the attempt in it.
    let record: SyncRecord
    let write: RemoteWrite
    let kind: AttemptBatch.Kind
    /// The document that was to be sent.
    let local: BSONDocument?

    init(
        record: SyncRecord, write: RemoteWrite, kind: AttemptBatch.Kind, local: BSONDocument?
    ) {
        self.record = record
        self.write = write
        self.kind = kind
        self.local = local
    }

    /// Whether a stored base outlives its use: it is removed with the others, which is cheaper.
    func leavesBase(after outcome: RemoteWriteOutcome) -> Bool {
        outcome == .applied && kind != .delete && record.keptBase != nil
    }
}
