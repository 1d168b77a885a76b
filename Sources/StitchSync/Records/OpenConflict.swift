internal import BSONStore

/// A conflict before its resolution, with the handler's arguments and the record.
struct OpenConflict: Sendable {
    /// The record as it was saved with the conflict; as it was at the request if the conflict is
    /// resolved at once.
    let record: SyncRecord
    let base: BSONDocument?
    let local: BSONDocument?
    let remote: RemoteEdition
    /// Whether the remote's edition may contain the local change already, since no evidence says
    /// what became of the upload.
    let mayHaveLanded: Bool
}
