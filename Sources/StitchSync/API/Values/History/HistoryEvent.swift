public import BSONStore

/// What happened to a document, as its story tells it.
///
/// ```swift
/// for entry in try await todos.history(of: 1) {
///     if case .paused(let reason) = entry.event { print(reason.code) }
/// }
/// ```
public enum HistoryEvent: Sendable, Hashable {
    /// How a write changed a document.
    public enum Change: UInt8, Sendable, Hashable, CaseIterable {
        /// The document is new.
        case insert
        /// The document has another content.
        case update
        /// The document was removed.
        case delete
    }

    /// The app wrote the document on this device.
    case written(Change)
    /// The engine stored an attempt and sends it; the number counts the attempts of one change.
    case sent(Change, attempt: Int)
    /// The remote confirmed the attempt.
    case applied
    /// The remote's answer was lost, or was a temporary error.
    case unanswered(String)
    /// The attempt's condition did not hold at the remote, so the engine fetches the document.
    case notMatched
    /// The engine found the attempt at the remote after its answer was lost.
    case recovered
    /// The engine fetched the document and found the same content on both sides, so that no change is
    /// pending any more.
    case foundEqual
    /// A conflict waits, since the app has configured no conflict handler.
    case conflictWaits
    /// The engine did not find the attempt at the remote after its answer was lost.
    case notFound(mayApplyLater: Bool)
    /// The engine applied the remote's change on this device.
    case received(Change)
    /// The document entered the view: a subscription matches it.
    case enteredView
    /// The document left the view: no subscription matches it, or the user may not read it.
    case leftView
    /// A conflict was resolved, with the fields that differ.
    case resolved(HistoryResolution, [HistoryField])
    /// The remote refused the attempt.
    case refused(HistoryRefusal)
    /// The engine reverted the refused change: a compensating write.
    case reverted
    /// The document's sync was paused.
    case paused(PauseReason)
    /// The document's sync was resumed.
    case resumed
    /// The remote's document has to be fetched again.
    case becameStale
    /// The app began the document's sync by its id.
    case synced
    /// The app ended the document's sync.
    case desynced
}

/// The outcome of a conflict.
public enum HistoryResolution: UInt8, Sendable, Hashable, CaseIterable {
    /// The local edition was kept.
    case local
    /// The remote edition was taken.
    case remote
    /// The handler returned a document of its own.
    case merged
    /// The document was deleted.
    case deleted
}

/// A field that differs between the editions of a conflict; an absent field is `nil`.
///
/// A value above 256 bytes is stored as a text that states its type and size.
public struct HistoryField: Sendable, Hashable {
    /// The name of the top-level field.
    public let name: String
    /// The value that the remote confirmed last.
    public let base: BSONValue?
    /// The value on this device.
    public let local: BSONValue?
    /// The value at the remote.
    public let remote: BSONValue?
    /// The value after the resolution.
    public let result: BSONValue?
}

/// A refusal of a write by the remote.
public struct HistoryRefusal: Sendable, Hashable {
    /// The name of the rule's cause, as in ``CompensatingWrite``; `nil` where no rule was the cause.
    public let cause: String?
    /// The role that applied.
    public let role: String?
    /// The paths of the fields that the role does not allow.
    public let fields: [String]
    /// The remote's message.
    public let message: String
}
