/// What is known about an attempt whose answer did not come.
enum AttemptEvidence: String, CaseIterable {
    /// No attempt is open.
    case noAttempt
    /// The remote document carries the attempt's name.
    case onTop
    /// The remote's history since the attempt was stored holds it; something came on top.
    case inHistory
    /// The complete history since then does not hold it.
    case notInHistory
    /// The history since then is lost, or tells of a delete without saying whose it was.
    case historyLost
}

/// What becomes of an open attempt.
enum AttemptDecision: String, CaseIterable {
    /// Go on: there is none.
    case none
    /// The attempt landed: what it intended is the base now.
    case adopt
    /// The attempt never landed: forget its name, the change is still pending.
    case discard
    /// Nobody can tell: forget its name, and flag a conflict that comes of it.
    case discardUncertain

    /// Rule R3.
    static func decide(_ evidence: AttemptEvidence) -> Self {
        switch evidence {
        case .noAttempt: .none
        case .onTop, .inHistory: .adopt
        case .notInHistory: .discard
        case .historyLost: .discardUncertain
        }
    }
}
