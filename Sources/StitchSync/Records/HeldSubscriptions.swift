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

    /// Returns the subscriptions after the remote answered a set and refused some of its queries.
    func followed(
        by set: SubscriptionSet, without refused: Set<SubscriptionQuery>
    ) -> HeldSubscriptions {
        let earlier = Dictionary(
            subscriptions.map { ($0.id, $0) }, uniquingKeysWith: { first, _ in first })
        return HeldSubscriptions(
            set.subscriptions.compactMap { subscription in
                let former = earlier[subscription.id]
                let decision = HeldQueryDecision.decide(
                    HeldQueryFacts(
                        isInSet: true,
                        answer: refused.contains(subscription.query) ? .refused : .documents,
                        hasFormerQuery: former != nil))
                return switch decision {
                case .hold: subscription
                case .keepFormer: former
                case .drop: nil
                }
            })
    }
}
