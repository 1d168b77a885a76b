internal import BSONStore

/// The newest lines of the server's log, for the console and the command `getLog`.
final class ConsoleLog: Sendable {
    static let linesMax = 1_000

    private struct State {
        var lines: [BSONDocument] = []
        var count: Int64 = 0
    }

    private let state = Locked(State())

    /// Returns a log that keeps each line here, too.
    func recording(_ log: ServerLog) -> ServerLog {
        ServerLog { [self] level, text in
            add(level, text)
            log.write(level, text)
        }
    }

    private func add(_ level: ServerLog.Level, _ text: String) {
        guard level != .debug else { return }
        state.withLock { state in
            state.count += 1
            if state.lines.count >= Self.linesMax { state.lines.removeFirst() }
            state.lines.append([
                "number": .int64(state.count), "time": .int64(BSONDatetime.now.milliseconds),
                "level": level == .warning ? "warning" : "info", "text": .string(text),
            ])
        }
    }

    /// The number of lines since the server started.
    var count: Int64 { state.withLock { $0.count } }

    /// Returns the lines after a number.
    func lines(after number: Int64) -> [BSONDocument] {
        state.withLock { state in
            state.lines.filter { ($0["number"]?.int64Value ?? 0) > number }
        }
    }
}
