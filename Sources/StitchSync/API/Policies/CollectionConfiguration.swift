internal import BSONStore

/// What the app set for one collection, beside its listeners.
struct CollectionConfiguration: Sendable {
    var conflictHandler: ConflictHandler<BSONDocument>?
    var frequency = SyncFrequency.reactive
    var rejection = RejectionPolicy<BSONDocument>.standard
    var strict: StrictWrites?
    var dropped = DroppedCollectionPolicy.pause
    var unexplained = UnexplainedAbsencePolicy.keep
    /// The app has configured the collection since the start.
    var isSet = false
}
