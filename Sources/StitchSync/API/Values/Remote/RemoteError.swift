/// Says why a remote could not answer, or would not carry a write out.
public struct RemoteError: Error, Sendable, Hashable, CustomStringConvertible {
    /// What follows from an error (rule R7).
    public enum Class: String, Sendable, Hashable, CaseIterable {
        /// It may pass: transport, timeout, not primary, throttled.
        case retryable
        /// Nobody is signed in, or the sign-in expired and could not be refreshed: passes stop until
        /// the app tells of a new one, and nothing is paused.
        case unauthenticated
        /// Nobody knows what it means: tried again, but only so often.
        case unknown
        /// Trying again is no use: not allowed, not valid, too large, a unique index.
        case rejected
        /// The place in the history is no longer kept.
        case historyLost
        /// The collection was dropped or renamed after the place in the history; what it held before
        /// that was told.
        case collectionDropped
    }

    /// What follows.
    public let errorClass: Class
    /// MongoDB's code, or 0.
    public let code: Int
    /// The remote's words.
    public let message: String

    /// The write that was not allowed, where rules are the reason.
    public let compensatingWrite: CompensatingWrite?

    /// Makes an error of its parts.
    public init(
        _ errorClass: Class, code: Int = 0, _ message: String,
        compensatingWrite: CompensatingWrite? = nil
    ) {
        self.errorClass = errorClass
        self.code = code
        self.message = message
        self.compensatingWrite = compensatingWrite
    }

    /// Whether the history cannot be read on from the place that was given.
    var endsHistory: Bool { errorClass == .historyLost || errorClass == .collectionDropped }

    /// The remote's words, with its code where there is one.
    public var description: String { code == 0 ? message : "\(message) (code \(code))" }
}
