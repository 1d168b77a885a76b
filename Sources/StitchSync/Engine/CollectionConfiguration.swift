internal import BSONStore

/// The app's closures for one collection.
struct CollectionConfiguration: Sendable {
    var conflictHandler: ConflictHandler<BSONDocument>?
    var changeEventListener: (@Sendable (ChangeEvent<BSONDocument>) async -> Void)?
    var errorListener: (@Sendable (SyncError, BSONValue?) async -> Void)?

    /// Events are kept for the collection.
    var hasListeners: Bool { changeEventListener != nil }
}
