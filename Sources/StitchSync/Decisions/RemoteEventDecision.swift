/// What a look at the remote found, reduced to what decides; every combination is legal.
struct RemoteEventFacts: Hashable {
    /// What the look showed.
    enum Remote: String, CaseIterable {
        /// No document, by proof (rule R9).
        case absent
        /// A document without a version field.
        case unversioned
        /// A document with a version that we understand.
        case versioned
        /// A document whose version field we do not understand.
        case foreign
    }

    /// What speaks for that somebody deleted a document that the look did not find.
    enum Evidence: String, CaseIterable {
        /// Nothing: absence alone proves nothing (decision 7).
        case none
        /// A delete in the history since the confirmed edition, a tombstone, or a drop that the app
        /// takes for it.
        case deleted
    }

    var remote: Remote
    /// Counts only where the look found no document.
    var evidence: Evidence
    /// The version field equals the one that the base was taken with.
    var versionSame: Bool
    /// The content equals the base's; both absent counts as equal.
    var contentSame: Bool
    /// How local differs from the base.
    var pending: PendingChange
    /// The local content equals the remote's; both absent counts as equal.
    var outcomeSame: Bool
    /// An unversioned document may still be claimed in this look.
    var mayClaim: Bool
}

/// What to do about a look at the remote.
enum RemoteEventDecision: String, CaseIterable {
    /// The remote holds what the base says.
    case nothing
    /// Give the unversioned document a version, then look again (rule R6).
    case claim
    /// Make the local document equal to the remote's.
    case take
    /// Take the content of a document with a version field that is not ours, and list it.
    case takeForeign
    /// List a document as foreign; its pending change stays queued.
    case listForeign
    /// The remote deleted it: remove the local document and the record.
    case removeLocal
    /// It is missing at the remote: find out why, and keep it until that is known.
    case explain
    /// Both sides came to the same: the remote's edition is the base, nothing is pending.
    case complete
    /// Both sides deleted it: the record ends.
    case completeDelete
    /// Only the version moved: the change stays pending on the new edition.
    case recordVersion
    /// Both sides changed: ask the app.
    case conflict

    /// Rules R5, R6 and R9; the table is `fixtures/decisions/remote-event.txt`.
    static func decide(_ facts: RemoteEventFacts) -> Self {
        if facts.versionSame && facts.contentSame { return .nothing }
        switch facts.remote {
        case .unversioned where facts.mayClaim: return .claim
        case .foreign: return facts.pending == .none ? .takeForeign : .listForeign
        case .absent, .unversioned, .versioned: break
        }
        if facts.pending == .none {
            guard facts.remote == .absent else { return .take }
            if facts.contentSame { return .recordVersion }
            return facts.evidence == .deleted ? .removeLocal : .explain
        }
        if facts.outcomeSame { return facts.remote == .absent ? .completeDelete : .complete }
        return facts.contentSame ? .recordVersion : .conflict
    }

    /// Whether the document is to be looked at again after this.
    var isOpen: Bool {
        switch self {
        case .claim, .conflict, .explain: true
        case .nothing, .take, .takeForeign, .listForeign, .removeLocal, .complete,
            .completeDelete, .recordVersion:
            false
        }
    }
}
