internal import BSONStore

extension HeldSubscriptions {
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
