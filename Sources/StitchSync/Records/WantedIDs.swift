internal import BSONStore

/// Ids that are kept in step and are neither here nor looked at yet: one row stands for all of them,
/// and becomes their records in the transaction that settles the look.
struct WantedIDs: Sendable {
    let row: Int64
    let ids: [BSONValue]
    /// The app asked for the ids themselves; else a query may ask for their documents.
    let isByID: Bool

    /// Records that are to be looked at.
    var records: [SyncRecord] { ids.map { SyncRecord(documentID: $0, byID: isByID) } }
}
