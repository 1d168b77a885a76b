internal import BSONStore

/// The treatment of documents whose collection the remote dropped or renamed.
///
/// Dropping a collection does not delete its documents one by one. The local documents may be the
/// only copy, so the engine removes them only when the app chooses ``remove``.
///
/// ```swift
/// await todos.configure(droppedCollectionPolicy: .remove)
/// ```
public enum DroppedCollectionPolicy: Sendable, Hashable {
    /// Keeps and pauses the documents; the error listener receives
    /// ``SyncError/Code-swift.enum/collectionDropped`` once.
    ///
    /// ``SyncCollection/resumeSync(of:)`` removes such a document locally, too. A write to it
    /// conflicts with the remote's delete, so that the conflict handler can insert it again.
    case pause
    /// Treats the drop as a delete of each document: documents without a pending change are
    /// removed, the others are conflicts.
    case remove
}
