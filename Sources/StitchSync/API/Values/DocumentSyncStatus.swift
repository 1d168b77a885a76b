internal import BSONStore

/// Says how one document stands between store and remote.
public enum DocumentSyncStatus: Sendable, Hashable {
    /// It is not kept in step.
    case notSynced
    /// As far as is known, both sides hold the same.
    case synced
    /// It has a change that the remote has not confirmed.
    case pending
    /// The remote edition has changed, or may have, and is to be looked at by the next pass.
    case stale
    /// Both: a change to send, and a remote edition to look at first. A conflict that waits for its
    /// handler is one.
    case conflicted
    /// Neither direction touches it; local writes and ``SyncCollection/resumeSync(of:)`` end this.
    case paused(PauseReason)
    /// It is missing at the remote, and nothing says that somebody deleted it: it is kept and not sent.
    case unexplained

    init(_ record: SyncRecord?) {
        guard let record else {
            self = .notSynced
            return
        }
        if record.isUnexplained {
            self = .unexplained
        } else if let pause = record.pause {
            self = .paused(pause)
        } else {
            switch (record.isPending, record.hint > 0) {
            case (false, false): self = .synced
            case (true, false): self = .pending
            case (false, true): self = .stale
            case (true, true): self = .conflicted
            }
        }
    }

    /// How the document stands in one word, as fixtures and the tool call it.
    package var name: String {
        switch self {
        case .notSynced: "notSynced"
        case .synced: "synced"
        case .pending: "pending"
        case .stale: "stale"
        case .conflicted: "conflicted"
        case .paused: "paused"
        case .unexplained: "unexplained"
        }
    }
}
