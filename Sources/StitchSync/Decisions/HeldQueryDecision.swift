/// The facts about one subscription after the remote answered a set.
struct HeldQueryFacts: Hashable {
    /// The remote's answer about the subscription's query in the set.
    enum Answer: String, CaseIterable {
        /// The documents were downloaded, or are on the device already.
        case documents
        /// The remote refused the query.
        case refused
        /// The user may not read the collection at all, or it is a view.
        case unreadable
    }

    /// Whether the set has the subscription; if not, it was removed.
    var isInSet: Bool
    var answer: Answer
    /// Whether documents of an earlier query of the subscription are on the device.
    var hasFormerQuery: Bool
}

/// The query of a subscription that keeps documents on the device after the remote answered a set.
///
/// It depends on no other subscription: what one query is refused holds back no other.
enum HeldQueryDecision: String, Hashable {
    /// The query of the set.
    case hold
    /// The query that the subscription had before.
    case keepFormer
    /// None: its documents are evicted.
    case drop

    static func decide(_ facts: HeldQueryFacts) -> Self {
        guard facts.isInSet else { return .drop }
        return switch facts.answer {
        case .documents: .hold
        case .refused, .unreadable: facts.hasFormerQuery ? .keepFormer : .drop
        }
    }
}
