internal import BSONStore

/// Says why a document is paused.
public struct PauseReason: Sendable, Hashable {
    /// The error's code.
    public let code: SyncError.Code
    /// The error's words.
    public let message: String

    /// Makes a reason of its parts.
    public init(_ code: SyncError.Code, _ message: String) {
        self.code = code
        self.message = message
    }
}
