internal import BSONStore

/// The data that the first transaction of a fetch stores in addition to its results.
enum FirstCommitExtras: Sendable {
    case nothing
    /// Stale marks, and the position in the history that they and the fetch follow from.
    case keep(RemoteChangeBatch)
    /// The change of a row's ids to records, except for the rest.
    case begin(WantedIDs, rest: [BSONValue])
}
