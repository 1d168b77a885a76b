internal import BSONStore

/// The data that a transaction of a fetch stores in addition to its results.
enum CommitExtras: Sendable {
    case nothing
    /// Stale marks, and the position in the history that they and the fetch follow from; stored after
    /// the last results.
    case markStale(RemoteChangeBatch)
    /// The change of a row's ids to records, except for the rest; stored before the results.
    case begin(WantedIDs, rest: [BSONValue])
}
