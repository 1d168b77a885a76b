import BSONStore
import StitchSync

/// What can be said of a document's remote edition, and where that comes from.
enum RemoteKnowledge: Sendable {
    /// The remote was asked just now.
    case asked(BSONDocument?)
    /// It was seen when a conflict was found that nobody has settled.
    case seen(BSONDocument?, BSONDatetime)
    /// Nothing newer is known than what the remote confirmed last.
    case confirmed(BSONDocument?)
    /// Nothing is known, for this reason.
    case unknown(String)

    /// What the store knows.
    init(_ editions: DocumentEditions, _ conflict: JournaledConflict?) {
        if let conflict, conflict.isOpen, editions.isUnsettled {
            self = .seen(conflict.remote, conflict.time)
            return
        }
        switch editions.status {
        case .notSynced: self = .unknown("the document is not kept in step")
        case .stale, .conflicted:
            self = .unknown("the remote has changed or may have; the next pass looks at it")
        case .unexplained:
            self = .unknown("the document is missing at the remote, and nothing says why")
        case .synced, .pending, .paused:
            self =
                editions.hasOpenAttempt
                ? .unknown("a write was sent whose answer did not come")
                : .confirmed(editions.base)
        }
    }

    /// The edition, where one is known; `.some(nil)` where there is no document.
    var edition: BSONDocument?? {
        switch self {
        case .asked(let document), .seen(let document, _), .confirmed(let document): .some(document)
        case .unknown: nil
        }
    }

    /// Where it comes from, in the words of `--json`.
    var name: String {
        switch self {
        case .asked: "asked"
        case .seen: "conflict"
        case .confirmed: "confirmed"
        case .unknown: "unknown"
        }
    }

    /// Where it comes from, in a sentence.
    var text: String {
        switch self {
        case .asked(let document): document == nil ? "asked now: there is none" : "asked now"
        case .seen(let document, let time):
            "as of the conflict at \(time.text)" + (document == nil ? ": deleted" : "")
        case .confirmed:
            "not asked; nothing newer is known than the base (--remote asks)"
        case .unknown(let reason): "unknown: \(reason) (--remote asks)"
        }
    }
}

extension JournaledConflict {
    /// Whether nobody settled it.
    var isOpen: Bool {
        switch answer {
        case .failed, .waits: true
        case .useLocal, .useRemote, .use, .delete: false
        }
    }
}

extension DocumentEditions {
    /// Whether the document is one whose conflict may still be open.
    fileprivate var isUnsettled: Bool {
        switch status {
        case .conflicted, .paused: true
        case .notSynced, .synced, .pending, .stale, .unexplained: false
        }
    }
}
