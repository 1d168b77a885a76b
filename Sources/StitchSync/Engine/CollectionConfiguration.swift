internal import BSONStore

/// What the app set for one collection, beside its listeners.
struct CollectionConfiguration: Sendable {
    var conflictHandler: ConflictHandler<BSONDocument>?
    var frequency = SyncFrequency.reactive
}
