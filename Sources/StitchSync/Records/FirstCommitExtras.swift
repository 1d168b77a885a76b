internal import BSONStore

/// What the first transaction of a look stores beside what the look led to.
enum FirstCommitExtras: Sendable {
    case nothing
    /// Hints, and the place in the history that they and the look came from.
    case keep(RemoteChangeBatch)
    /// That ids of a row are records now, all but the rest.
    case begin(WantedIDs, rest: [BSONValue])
}
