/// Says when a running engine syncs a collection by itself.
///
/// ``SyncEngine/syncNow()`` and ``SyncCollection/syncNow()`` sync at any frequency.
public enum SyncFrequency: Sendable, Hashable {
    /// As soon as something changes here or at the remote.
    case reactive
    /// Once per interval. When connected, the remote's history is followed in between, so that
    /// ``SyncStatus/toLook`` tells of changes before they are taken in.
    case scheduled(every: Duration, isConnected: Bool)
    /// Only when the app asks.
    case onDemand
}
