internal import BSONStore

/// The subscriptions whose documents are on the device.
///
/// They are those of the active set. If the remote has refused queries of a later set since, they
/// are those of that set: with its answered queries, and with the earlier query of each subscription
/// whose new one was refused.
struct HeldSubscriptions: Sendable {
    let subscriptions: [Subscription]
    /// The queries of the subscriptions.
    let queries: SetQueries

    init(_ subscriptions: [Subscription], _ queries: SetQueries? = nil) {
        self.subscriptions = subscriptions
        self.queries = queries ?? SetQueries(subscriptions.map(\.query))
    }
}
