internal import BSONStore

/// The app's policies for the settlement of fetched documents.
struct FetchPolicy: Sendable {
    /// The policy for refused changes.
    let uploads: UploadPolicy
    /// The conflict handler's merge of counters, where it has one.
    let counting: ThreeWayMerge?
    /// Whether the app configured a conflict handler.
    let hasHandler: Bool
}
