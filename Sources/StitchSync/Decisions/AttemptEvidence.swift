/// The evidence about an attempt whose answer did not arrive.
enum AttemptEvidence: String, CaseIterable {
    /// No attempt is open.
    case noAttempt
    /// The remote document carries the attempt's name.
    case onTop
    /// The remote's history since the attempt was stored contains it; a later change is on top.
    case inHistory
    /// The complete history since then does not contain it.
    case notInHistory
    /// The history since then is lost, or contains a delete of unknown origin.
    case historyLost
}

/// The treatment of an open attempt.
enum AttemptDecision: String, CaseIterable {
    /// No attempt is open: continue.
    case none
    /// The remote applied the attempt: its document is the new base.
    case adopt
    /// The remote had not applied the attempt: remove its name from the record; the change is still
    /// pending. The attempt is kept as an unresolved one, since its request may still arrive.
    case discard
    /// The outcome is unknown: as ``discard``, and flag a conflict that results from it.
    case discardUncertain

    /// Decides by rule R3.
    static func decide(_ evidence: AttemptEvidence) -> Self {
        switch evidence {
        case .noAttempt: .none
        case .onTop, .inHistory: .adopt
        case .notInHistory: .discard
        case .historyLost: .discardUncertain
        }
    }
}
