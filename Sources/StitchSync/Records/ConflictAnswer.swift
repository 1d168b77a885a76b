internal import BSONStore

/// What the handler said, or why it said nothing.
struct ConflictAnswer: Sendable {
    let conflict: OpenConflict
    let result: Result<ConflictResolution<BSONDocument>, SyncError>

    /// The bytes of a document that the handler made.
    var byteCount: Int {
        if case .success(.use(let document)) = result { document.byteCount } else { 0 }
    }
}
