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
    /// Stops the collection: its documents stay, and nothing is uploaded or deleted. The error
    /// listener receives ``SyncError/Code-swift.enum/collectionDropped`` once for each start of the
    /// engine.
    ///
    /// ``SyncCollection/adoptRemote()`` uploads the documents to the new collection;
    /// ``SyncCollection/replaceFromRemote()`` replaces them by the remote's. ``SyncStop`` holds the
    /// details of the stop.
    case pause
    /// Treats the drop as a delete of each document: documents without a pending change are
    /// removed, the others are conflicts.
    case remove
}
