internal import BSONStore

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
