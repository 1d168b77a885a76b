internal import BSONStore

/// The times at which a running engine syncs a collection by itself.
///
/// ``SyncEngine/syncNow()`` and ``SyncCollection/syncNow()`` sync at any frequency.
///
/// ```swift
/// await todos.updateSyncFrequency(.scheduled(every: .seconds(300), isConnected: false))
/// ```
public enum SyncFrequency: Sendable, Hashable {
    /// As soon as a local or remote document changes.
    case reactive
    /// Once per interval. When connected, the engine follows the remote's history in between, so
    /// that ``SyncStatus/toLook`` counts changes before they are downloaded.
    case scheduled(every: Duration, isConnected: Bool)
    /// Only when the app asks.
    case onDemand
}
