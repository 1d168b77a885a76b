internal import BSONStore

/// One attempt to upload a change; stored before it is sent (rule R3).
struct Attempt: Hashable {
    /// The attempt's name.
    var operation: OperationID
    /// The remote document after the attempt; absent for a delete.
    var intended: StoredContent
    /// The version that the attempt gives the document; absent for a delete.
    var version: VersionField
    /// A position in the remote's history before the attempt was sent.
    var token: ResumeToken?

    /// Whether the attempt deletes the remote document.
    var isDelete: Bool { intended == .absent }
}
