public import BSONStore

/// Is a line about what the engine does, for people; no document's content is ever in one.
public struct SyncLogLine: Sendable, Hashable, CustomStringConvertible {
    /// How much it matters.
    public enum Level: String, Sendable, Hashable, CaseIterable {
        /// Worth a look when something is looked for.
        case info
        /// Something was not done as the app wanted.
        case warning
    }

    /// How much it matters.
    public let level: Level
    /// The collection.
    public let namespace: Namespace
    /// The line.
    public let text: String

    /// The text.
    public var description: String { text }
}

/// Hands lines to whoever the app named.
final class SyncLog: Sendable {
    typealias Handler = @Sendable (SyncLogLine) -> Void

    private let handler = Locked<Handler?>(nil)

    func set(_ handler: Handler?) { self.handler.withLock { $0 = handler } }

    /// Makes a line only where somebody reads it.
    func note(
        _ level: SyncLogLine.Level, _ namespace: Namespace, _ text: @autoclosure () -> String
    ) {
        guard let handler = handler.withLock({ $0 }) else { return }
        handler(SyncLogLine(level: level, namespace: namespace, text: text()))
    }
}

extension SyncEngine {
    /// Sets who gets the lines that the engine writes about compensating writes; nobody unless told.
    ///
    /// It is called on the engine's tasks and should return soon.
    public func setLogHandler(_ handler: (@Sendable (SyncLogLine) -> Void)?) { log.set(handler) }
}

extension CompensatingWrite {
    /// Device Sync's line of an error that came in.
    static func receivedLine(session: Int64) -> String {
        "Connection[1]: Session[\(session)]: Received: ERROR \"\(text)\" "
            + "(error_code=\(code), is_fatal=false, error_action=Warning)"
    }

    /// Device Sync's line of an error that the app is told of.
    static func reportingLine(session: Int64, client: UInt64, server: Int64) -> String {
        "Connection[1]: Session[\(session)]: Reporting compensating write for client version "
            + "\(client) in server version \(server): \(text)"
    }
}
