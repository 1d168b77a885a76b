/// Says what becomes of documents whose collection the remote dropped or renamed.
///
/// Somebody's hand at the server is not the deletion of each document: what is nowhere else is not
/// removed here unless the app says so.
public enum DroppedCollectionPolicy: Sendable, Hashable {
    /// Keeps what the remote no longer holds, and pauses it; the error listener is told once, with code
    /// ``SyncError/Code-swift.enum/collectionDropped``.
    ///
    /// ``SyncCollection/resumeSync(of:)`` removes such a document here, too; a write to it is a
    /// conflict with the remote's deletion, so that the conflict handler may have it made anew.
    case pause
    /// Takes the drop for the deletion of each document: those without a pending change are removed,
    /// the others are conflicts.
    case remove
}
