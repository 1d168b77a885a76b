/// Is what is known of a document when the documents of a set of subscriptions are applied.
struct MembershipFacts: Hashable {
    /// What the remote says of the document.
    enum Remote: String, CaseIterable {
        /// It is there, and the user sees it.
        case there
        /// The user does not see it, or it is not told why it is missing.
        case hidden
        /// It was deleted.
        case deleted
    }

    /// The document is on the device.
    var isHeld: Bool
    /// A local change waits for the remote.
    var hasPendingChange: Bool
    /// It is tracked by its id.
    var isClaimedByID: Bool
    /// A query asks for it as it is at the remote.
    var isClaimedByQuery: Bool
    var remote: Remote
}

/// Decides whether a document is on the device.
///
/// It stays as long as an id or a query claims it or a change waits; what leaves is evicted, which
/// is never a delete.
enum MembershipDecision: String, Hashable {
    /// Put it on the device.
    case arrive
    /// Leave it, and bring it in step with the remote where nothing waits.
    case keep
    /// Leave it with its waiting change: the change decides.
    case keepPending
    /// Take it off the device; the remote keeps it.
    case evict
    /// Delete it, as the remote did.
    case delete
    /// It is not here and stays away.
    case ignore

    static func decide(_ facts: MembershipFacts) -> Self {
        let isClaimed = facts.isClaimedByID || facts.isClaimedByQuery
        guard facts.isHeld else {
            // A waiting change on a document that is not here is its deletion.
            if facts.hasPendingChange { return .keepPending }
            return facts.remote == .there && isClaimed ? .arrive : .ignore
        }
        if facts.hasPendingChange { return .keepPending }
        return switch facts.remote {
        case .there: isClaimed ? .keep : .evict
        case .hidden: .evict
        case .deleted: .delete
        }
    }
}
