internal import BSONStore

/// The app's policies for the settlement of fetched documents.
struct SettlementPolicy: Sendable {
    /// The policy for refused changes.
    let terms: UploadPolicy
    /// The conflict handler's merge of counters, where it has one.
    let counting: ThreeWayMerge?
}
