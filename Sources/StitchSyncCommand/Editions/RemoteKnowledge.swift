import BSONStore
import StitchSync

/// The known remote version of a document, and its source.
enum RemoteKnowledge: Sendable {
    /// The remote's reply just now.
    case asked(BSONDocument?)
    /// The version at the time of a conflict that is still unresolved.
    case seen(BSONDocument?, BSONDatetime)
    /// The version that the remote confirmed last.
    case confirmed(BSONDocument?)
    /// Unknown, for this reason.
    case unknown(String)

    /// Derives the known version from the store's records.
    init(_ editions: DocumentEditions, _ conflict: JournaledConflict?) {
        if let conflict, conflict.isOpen, editions.isUnsettled {
            self = .seen(conflict.remote, conflict.time)
            return
        }
        switch editions.status {
        case .notSynced: self = .unknown("the document is not synced")
        case .stale, .conflicted:
            self = .unknown("the remote may have changed; the next pass reads it")
        case .unexplained:
            self = .unknown("the document is missing at the remote for an unknown reason")
        case .synced, .pending, .paused:
            self =
                editions.hasOpenAttempt
                ? .unknown("no reply arrived for a write that was sent")
                : .confirmed(editions.base)
        }
    }

    /// The version, if known; `.some(nil)` means that the remote has no document.
    var edition: BSONDocument?? {
        switch self {
        case .asked(let document), .seen(let document, _), .confirmed(let document): .some(document)
        case .unknown: nil
        }
    }

    /// The source, as a word for `--json`.
    var name: String {
        switch self {
        case .asked: "asked"
        case .seen: "conflict"
        case .confirmed: "confirmed"
        case .unknown: "unknown"
        }
    }

    /// The source, as a sentence.
    var text: String {
        switch self {
        case .asked(let document): document == nil ? "asked now: no document" : "asked now"
        case .seen(let document, let time):
            "as of the conflict at \(time.text)" + (document == nil ? ": deleted" : "")
        case .confirmed:
            "not asked; the base is the newest known version (--remote asks)"
        case .unknown(let reason): "unknown: \(reason) (--remote asks)"
        }
    }
}

extension JournaledConflict {
    /// Whether the conflict is unresolved.
    var isOpen: Bool {
        switch answer {
        case .failed, .waits: true
        case .useLocal, .useRemote, .use, .delete: false
        }
    }
}

extension DocumentEditions {
    /// Whether the document's conflict may still be unresolved.
    fileprivate var isUnsettled: Bool {
        switch status {
        case .conflicted, .paused: true
        case .notSynced, .synced, .pending, .stale, .unexplained: false
        }
    }
}
