internal import BSONStore

/// Synced ids that are not fetched yet and have no local document.
///
/// One row stands for all of them; the transaction that settles the fetch replaces it by their
/// records.
struct WantedIDs: Sendable {
    let row: Int64
    let ids: [BSONValue]
    /// Whether the app requested the ids; otherwise a query may match their documents.
    let isByID: Bool

    /// The records to fetch.
    var records: [SyncRecord] { ids.map { SyncRecord(documentID: $0, byID: isByID) } }
}
