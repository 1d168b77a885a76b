internal import BSONStore

/// The reason why a remote failed to answer a request or to apply a write.
///
/// ```swift
/// throw RemoteError(.retryable, code: 91, "the server is shutting down")
/// ```
public struct RemoteError: Error, Sendable, Hashable, CustomStringConvertible {
    /// The class of an error, which decides whether the engine tries again, reverts or stops.
    ///
    /// ```swift
    /// switch error.errorClass {
    /// case .retryable, .unknown: print("the engine tries again: \(error)")
    /// case .unauthenticated: print("the user has to sign in")
    /// case .rejected, .historyLost, .collectionDropped: print(error)
    /// }
    /// ```
    public enum Class: String, Sendable, Hashable, CaseIterable {
        /// A temporary error: transport, timeout, not primary, throttled.
        case retryable
        /// The user is not signed in, or the session expired. Passes stop until the app calls
        /// ``SyncEngine/noteSignIn()``; no document is paused.
        case unauthenticated
        /// An error of unknown meaning; the engine tries again a limited number of times.
        case unknown
        /// A permanent error: not allowed, invalid, too large, a unique index.
        case rejected
        /// The remote no longer keeps the position in the history.
        case historyLost
        /// The collection was dropped or renamed after the position in the history; all changes
        /// before that were reported.
        case collectionDropped
    }

    /// The consequence of the error.
    public let errorClass: Class
    /// MongoDB's error code, 231 for a write that access rules deny, as in Device Sync, or 0.
    public let code: Int
    /// The remote's error message.
    public let message: String

    /// The refused write, where access rules or subscriptions are the reason.
    public let compensatingWrite: CompensatingWrite?

    /// The dotted paths of the unique index that refused the write; empty for other errors.
    package let uniquePaths: [String]

    /// Makes an error from its parts.
    public init(
        _ errorClass: Class, code: Int = 0, _ message: String,
        compensatingWrite: CompensatingWrite? = nil
    ) {
        self.errorClass = errorClass
        self.code = code
        self.message = message
        self.compensatingWrite = compensatingWrite
        uniquePaths = []
    }

    /// Makes the error of a write that a unique index refused.
    package init(uniquePaths: [String], code: Int, _ message: String) {
        errorClass = .rejected
        self.code = code
        self.message = message
        compensatingWrite = nil
        self.uniquePaths = uniquePaths
    }

    /// Whether a unique index of the remote refused the content; no content can change an `_id`.
    package var isUniqueValueTaken: Bool {
        errorClass == .rejected && [11_000, 11_001].contains(code)
            && !uniquePaths.hasSameBytes(as: ["_id"])
    }

    /// Whether the history cannot be read from the given position.
    var endsHistory: Bool { errorClass == .historyLost || errorClass == .collectionDropped }

    /// The remote's error message, with its code unless that is 0.
    public var description: String { code == 0 ? message : "\(message) (code \(code))" }
}
