/// The facts about a fetched document that an id or a query may keep on the device.
struct MembershipFacts: Hashable {
    /// The remote's answer about the document.
    enum Remote: String, CaseIterable {
        /// The document exists, and the user may read it.
        case there
        /// The user may not read the document, or it is missing for an unknown reason.
        case hidden
        /// The document was deleted.
        case deleted
    }

    /// Whether the document is on the device.
    var isHeld: Bool
    /// Whether a local change is pending.
    var hasPendingChange: Bool
    /// Whether the document is synced by its id.
    var isKeptByID: Bool
    /// Whether a query matches the remote's edition.
    var isMatchedByQuery: Bool
    var remote: Remote
}

/// The treatment of a fetched document that an id or a query may keep on the device.
///
/// A document stays while its id or a query keeps it or a change is pending. Otherwise it is
/// evicted, which is never a delete.
enum MembershipDecision: String, Hashable {
    /// Download the document.
    case arrive
    /// Keep the document and store the remote's edition.
    case keep
    /// Keep the document with its pending change, which decides later.
    case keepPending
    /// Remove the document from the device; the remote keeps it.
    case evict
    /// Delete the document, as the remote did.
    case delete
    /// Do nothing: the document is not on the device.
    case ignore

    static func decide(_ facts: MembershipFacts) -> Self {
        let isKept = facts.isKeptByID || facts.isMatchedByQuery
        guard facts.isHeld else {
            // A pending change of a document that is not on the device is its delete.
            if facts.hasPendingChange { return .keepPending }
            return facts.remote == .there && isKept ? .arrive : .ignore
        }
        if facts.hasPendingChange { return .keepPending }
        return switch facts.remote {
        case .there: isKept ? .keep : .evict
        case .hidden: .evict
        case .deleted: .delete
        }
    }
}
