internal import BSONStore

/// One try to carry a change to the remote; stored before it is sent (rule R3).
struct Attempt: Hashable {
    /// The try's name.
    var operation: OperationID
    /// What the remote document holds once it landed; absent for a delete.
    var intended: StoredContent
    /// The version that it gives the document; absent for a delete.
    var version: VersionField
    /// A place in the remote's history before the try was sent.
    var token: ResumeToken?

    /// The try deletes the remote document.
    var isDelete: Bool { intended == .absent }
}
