/// What is known of a remote collection's identity when a pass begins; every combination is legal.
struct IdentityFacts: Hashable {
    /// What the remote says of itself.
    enum Answer: String, CaseIterable {
        /// It does not tell.
        case unknown
        /// The collection does not exist there.
        case notMade
        /// It is the collection that was adopted.
        case same
        /// It is a collection, and not the one that was adopted; none may have been adopted yet.
        case other
    }

    /// What was adopted by an earlier pass.
    enum Adopted: String, CaseIterable {
        /// Nothing: no pass ran, the remote did not tell, or the file is from before identities.
        case nothing
        /// That the collection did not exist.
        case notMade
        /// A collection's identity.
        case known
    }

    var answer: Answer
    var adopted: Adopted
    /// Documents here were confirmed by a remote.
    var holdsConfirmed: Bool
    /// Changes here wait to be sent.
    var holdsPending: Bool
    /// The collection is stopped already.
    var isStopped: Bool
}

/// What to do about a remote collection's identity before anything that it says is believed.
enum IdentityDecision: String, CaseIterable {
    /// Go on with the pass.
    case goOn
    /// Adopt what the remote says of itself, and go on.
    case adopt
    /// Adopt it if the remote holds all documents that were confirmed; else stop.
    case verify
    /// Find out whether the remote tells of a drop; else stop.
    case examine
    /// The remote is the one that was adopted again: end the stop and go on.
    case resume
    /// Stay stopped.
    case stayStopped

    /// Decision 7 of Docs/ARCHITECTURE.md; the table is `fixtures/decisions/identity.txt`.
    static func decide(_ facts: IdentityFacts) -> Self {
        if facts.isStopped { return facts.answer == .same ? .resume : .stayStopped }
        if facts.answer == .unknown || facts.answer == .same { return .goOn }
        switch facts.adopted {
        case .known:
            // What waits was written for the collection that was adopted.
            return facts.holdsConfirmed || facts.holdsPending ? .examine : .adopt
        case .notMade where facts.answer == .notMade:
            return facts.holdsConfirmed ? .examine : .goOn
        case .nothing, .notMade:
            guard facts.holdsConfirmed else { return .adopt }
            return facts.answer == .notMade ? .examine : .verify
        }
    }
}
