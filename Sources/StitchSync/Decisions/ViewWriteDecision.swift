internal import BSONStore

/// Is a write and what the subscriptions ask for.
struct ViewWriteFacts: Hashable {
    /// A subscription asks for documents of the collection.
    var hasSubscription: Bool
    /// The remote holds the document before the write.
    var existedBefore: Bool
    /// A subscription asks for the document as the remote holds it.
    var isSeenBefore: Bool
    /// The document is there after the write.
    var existsAfter: Bool
    /// A subscription asks for the document as it is after the write.
    var isSeenAfter: Bool
}

extension ViewWriteFacts {
    /// Gathers the facts of a change from what the remote holds to another document.
    ///
    /// - Parameter isSeen: whether a subscription asks for a document.
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

/// Says whether a write keeps to the view.
///
/// What was in view may be changed or deleted; what is new must be in view. A change that takes a
/// document out of the view is legal.
enum ViewWriteDecision: String, CaseIterable {
    /// Nothing speaks against it.
    case legal
    /// It is legal, and the document leaves the device afterwards.
    case legalAndLeaves
    /// No subscription asks for the document.
    case outOfView
    /// No subscription asks for anything of the collection.
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
