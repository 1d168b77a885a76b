import BSONStore
import StitchSync

extension SyncEngine {
    /// Creates an engine that reads a store and syncs with no remote.
    convenience init(lookingAt store: DocumentStore) throws {
        try self.init(store: store, remote: try InProcessRemote(at: .inMemory))
    }
}
