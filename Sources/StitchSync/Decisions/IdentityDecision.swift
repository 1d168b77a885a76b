/// The facts about a remote collection's identity at the start of a pass; all combinations are
/// legal.
struct IdentityFacts: Hashable {
    /// The identity that the remote reports.
    enum Answer: String, CaseIterable {
        /// The remote does not report an identity.
        case unknown
        /// The collection does not exist at the remote.
        case notMade
        /// The identity is the adopted one.
        case same
        /// The identity is not the adopted one, or none was adopted yet.
        case other
    }

    /// The identity that an earlier pass adopted.
    enum Adopted: String, CaseIterable {
        /// No identity: no pass ran, the remote reported none, or the file's version had no
        /// identities.
        case nothing
        /// The absence of the collection.
        case notMade
        /// A collection's identity.
        case known
    }

    var answer: Answer
    var adopted: Adopted
    /// Whether a remote has confirmed local documents.
    var holdsConfirmed: Bool
    /// Whether local changes are pending.
    var holdsPending: Bool
    /// Whether the collection is already stopped.
    var isStopped: Bool
}

/// The treatment of a remote collection's identity, before the pass uses any other answer.
enum IdentityDecision: String, CaseIterable {
    /// Continue the pass.
    case goOn
    /// Adopt the reported identity and continue.
    case adopt
    /// Adopt the reported identity if the remote holds all confirmed documents; else stop.
    case verify
    /// Search the remote's history for a drop of the collection; else stop.
    case examine
    /// The remote has the adopted identity again: end the stop and continue.
    case resume
    /// Stay stopped.
    case stayStopped

    /// Decides by decision 7 of Docs/ARCHITECTURE.md; the table is
    /// `fixtures/decisions/identity.txt`.
    static func decide(_ facts: IdentityFacts) -> Self {
        if facts.isStopped { return facts.answer == .same ? .resume : .stayStopped }
        if facts.answer == .unknown || facts.answer == .same { return .goOn }
        switch facts.adopted {
        case .known:
            // Pending changes were written for the adopted collection.
            return facts.holdsConfirmed || facts.holdsPending ? .examine : .adopt
        case .notMade where facts.answer == .notMade:
            return facts.holdsConfirmed ? .examine : .goOn
        case .nothing, .notMade:
            guard facts.holdsConfirmed else { return .adopt }
            return facts.answer == .notMade ? .examine : .verify
        }
    }
}
