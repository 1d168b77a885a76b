internal import BSONStore

/// The handler's resolution, or its error.
struct ConflictAnswer: Sendable {
    let conflict: OpenConflict
    let result: Result<ConflictResolution<BSONDocument>, SyncError>

    /// The size of a document that the handler returned, in bytes.
    var byteCount: Int {
        if case .success(.use(let document)) = result { document.byteCount } else { 0 }
    }
}
