internal import BSONStore

/// The passage of log lines to the app's handler.
final class SyncLog: Sendable {
    typealias Handler = @Sendable (SyncLogLine) -> Void

    private let handler = Locked<Handler?>(nil)

    func set(_ handler: Handler?) { self.handler.withLock { $0 = handler } }

    /// Whether the app has a handler of lines.
    var isHeard: Bool { handler.withLock { $0 != nil } }

    /// Writes a line; evaluates its text only where there is a handler.
    func note(
        _ level: SyncLogLine.Level, _ namespace: Namespace, _ text: @autoclosure () -> String
    ) {
        guard let handler = handler.withLock({ $0 }) else { return }
        handler(SyncLogLine(level: level, namespace: namespace, text: text()))
    }
}

extension CompensatingWrite {
    /// Returns Device Sync's log line of a received error.
    static func receivedLine(session: Int64) -> String {
        "Connection[1]: Session[\(session)]: Received: ERROR \"\(text)\" "
            + "(error_code=\(code), is_fatal=false, error_action=Warning)"
    }

    /// Returns Device Sync's log line of an error that is reported to the app.
    static func reportingLine(session: Int64, client: UInt64, server: Int64) -> String {
        "Connection[1]: Session[\(session)]: Reporting compensating write for client version "
            + "\(client) in server version \(server): \(text)"
    }
}
