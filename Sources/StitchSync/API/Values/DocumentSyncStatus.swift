internal import BSONStore

/// The sync state of one document.
///
/// ```swift
/// switch try await todos.status(of: 1) {
/// case .synced: print("up to date")
/// case .paused(let reason): print(reason.message)
/// default: break
/// }
/// ```
public enum DocumentSyncStatus: Sendable, Hashable, CustomStringConvertible {
    /// The document is not synced.
    case notSynced
    /// Both sides hold the same edition, as far as the engine knows.
    case synced
    /// The document has an unconfirmed local change.
    case pending
    /// The remote edition has changed, or may have; the next pass fetches it.
    case stale
    /// The document is both pending and stale: the next pass fetches the remote edition first. A
    /// conflict that waits for its handler has this state.
    case conflicted
    /// The engine neither uploads nor downloads the document, until a local write or
    /// ``SyncCollection/resumeSync(of:)``.
    case paused(PauseReason)
    /// The document is missing at the remote without evidence of a delete; it stays local and is
    /// not uploaded.
    case unexplained

    /// The reason for a pause; `nil` if the document is not paused.
    public var pauseReason: PauseReason? {
        if case .paused(let reason) = self { reason } else { nil }
    }

    /// The state's name, with the reason for a pause.
    public var description: String {
        if case .paused(let reason) = self { "paused (\(reason))" } else { name }
    }

    /// The state's name in fixtures and in the tool.
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
