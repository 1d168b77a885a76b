internal import BSONStore

/// The error that paused a document.
///
/// ```swift
/// if let reason = try await todos.status(of: 1).pauseReason {
///     print(reason.code, reason.message)
///     try await todos.resumeSync(of: 1)
/// }
/// ```
public struct PauseReason: Sendable, Hashable, CustomStringConvertible {
    /// The error's code.
    public let code: SyncError.Code
    /// The error's message.
    public let message: String

    /// Makes a reason from its parts.
    public init(_ code: SyncError.Code, _ message: String) {
        self.code = code
        self.message = message
    }

    /// The reason of a document that was damaged on the device, with a change that is lost.
    static let quarantined = PauseReason(
        .unusableDocument, "the local document was damaged and is in quarantine, with its change")

    /// The code and the message.
    public var description: String { "\(code.rawValue): \(message)" }
}
