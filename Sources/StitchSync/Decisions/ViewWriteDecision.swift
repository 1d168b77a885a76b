internal import BSONStore

/// The facts about a write and the subscriptions.
struct ViewWriteFacts: Hashable {
    /// Whether the collection has a subscription.
    var hasSubscription: Bool
    /// Whether the remote holds the document before the write.
    var existedBefore: Bool
    /// Whether a subscription matches the remote's document.
    var isSeenBefore: Bool
    /// Whether the document exists after the write.
    var existsAfter: Bool
    /// Whether a subscription matches the document after the write.
    var isSeenAfter: Bool
}

extension ViewWriteFacts {
    /// Collects the facts about a change from the remote's document to another.
    ///
    /// - Parameter isSeen: returns whether a subscription matches a document.
    init(
        hasSubscription: Bool, from base: BSONDocument?, to after: BSONDocument?,
        isSeen: (BSONDocument) -> Bool
    ) {
        self.init(
            hasSubscription: hasSubscription, existedBefore: base != nil,
            isSeenBefore: base.map(isSeen) ?? false, existsAfter: after != nil,
            isSeenAfter: after.map(isSeen) ?? false)
    }
}

/// The judgement of a write by the view, which is the set of documents that subscriptions match.
///
/// A write may change or delete a document in the view. A new document must be in the view. A
/// change may move a document out of the view.
enum ViewWriteDecision: String, CaseIterable {
    /// The write is legal.
    case legal
    /// The write is legal, and the document is evicted afterwards.
    case legalAndLeaves
    /// No subscription matches the document.
    case outOfView
    /// The collection has no subscription.
    case noSubscription

    static func decide(_ facts: ViewWriteFacts) -> Self {
        guard facts.existedBefore || facts.existsAfter else { return .legal }
        guard facts.hasSubscription else { return .noSubscription }
        guard facts.existedBefore ? facts.isSeenBefore : facts.isSeenAfter else {
            return .outOfView
        }
        return facts.existsAfter && !facts.isSeenAfter ? .legalAndLeaves : .legal
    }
}
