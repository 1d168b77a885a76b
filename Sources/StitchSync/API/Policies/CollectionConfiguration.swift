internal import BSONStore

/// The app's settings for one collection, without its listeners.
struct CollectionConfiguration: Sendable {
    var conflictHandler: ConflictHandler<BSONDocument>?
    var frequency = SyncFrequency.reactive
    var rejection = RejectionPolicy<BSONDocument>.standard
    var strict: StrictWrites?
    var dropped = DroppedCollectionPolicy.pause
    var unexplained = UnexplainedAbsencePolicy.keep
    /// The sharing of conflicts with the server; `nil` for none.
    var sharing: ConflictSharing?
    /// Whether the app has configured the collection since the start.
    var isSet = false
    /// Whether the next pass tries those documents again that did not decode in a conflict: a new
    /// version of the app may decode them.
    let retriesUndecodable = Locked(false)
}
