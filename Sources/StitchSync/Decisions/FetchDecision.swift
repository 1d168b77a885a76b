/// The facts about a fetched document; all combinations are legal.
struct FetchFacts: Hashable {
    /// The result of the fetch.
    enum Remote: String, CaseIterable {
        /// No document: none exists (rule R9), or the user sees none.
        case absent
        /// A document without a version field.
        case unversioned
        /// A document with a valid version field.
        case versioned
        /// A document with a foreign version field.
        case foreign
    }

    /// The evidence for the delete of a document that the fetch did not find.
    enum Evidence: String, CaseIterable {
        /// No evidence: absence alone proves nothing (rule R9).
        case none
        /// A delete in the history since the confirmed edition, a tombstone, or a drop that the app
        /// treats as a delete.
        case deleted
    }

    var remote: Remote
    /// The evidence for a delete; relevant only where the fetch found no document.
    var evidence: Evidence
    /// Whether the version field equals the base's.
    var versionSame: Bool
    /// Whether the content equals the base's; two absent documents are equal.
    var contentSame: Bool
    /// The difference between the local document and the base.
    var pending: PendingChange
    /// Whether the local content equals the remote's; two absent documents are equal.
    var outcomeSame: Bool
    /// Whether this fetch may still give an unversioned document a version.
    var mayClaim: Bool
}

/// The treatment of a fetched document.
enum FetchDecision: String, CaseIterable {
    /// Do nothing: the remote holds the base.
    case nothing
    /// Give the unversioned document a version, then fetch again (rule R6).
    case claim
    /// Make the local document equal to the remote's.
    case take
    /// Store the content of a document with a foreign version field, and list the document.
    case takeForeign
    /// List a document as foreign; its change stays pending.
    case listForeign
    /// Remove the local document and the record: the remote deleted the document.
    case removeLocal
    /// Search for the reason of the absence, and keep the document until it is known.
    case explain
    /// Make the remote's edition the base: both sides are equal, so nothing is pending.
    case complete
    /// Remove the record: both sides deleted the document.
    case completeDelete
    /// Store the new version: only it changed; the local change stays pending.
    case recordVersion
    /// Call the conflict handler: both sides changed.
    case conflict

    /// Decides by rules R5, R6 and R9; the table is `fixtures/decisions/fetch.txt`.
    static func decide(_ facts: FetchFacts) -> Self {
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

    /// Whether the document has to be fetched again after this.
    var isOpen: Bool {
        switch self {
        case .claim, .conflict, .explain: true
        case .nothing, .take, .takeForeign, .listForeign, .removeLocal, .complete,
            .completeDelete, .recordVersion:
            false
        }
    }
}
