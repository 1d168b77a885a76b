internal import BSONStore

/// The statistics of commands, for Prometheus.
final class ServerMetrics: Sendable {
    /// The statistics of one command.
    struct Calls: Sendable, Hashable {
        var count = 0
        var failures = 0
        var seconds = 0.0
    }

    private let calls = Locked<[String: Calls]>([:])

    /// Counts an answered command; unknown names are counted together.
    func note(_ name: String, _ outcome: CommandOutcome, _ duration: Duration) {
        let seconds = duration / .seconds(1)
        let isFailure =
            if case .reply(let reply) = outcome { reply["ok"] == 0.0 } else { false }
        let known = CommandTable.find(name)?.name ?? "unknown"
        calls.withLock { calls in
            calls[known, default: Calls()].count += 1
            calls[known, default: Calls()].seconds += seconds
            if isFailure { calls[known, default: Calls()].failures += 1 }
        }
    }

    /// The statistics by command.
    var all: [(name: String, calls: Calls)] {
        calls.withLock { $0 }.sorted { $0.key < $1.key }.map { ($0.key, $0.value) }
    }
}

/// The statistics of a server in Prometheus's text format.
///
/// Source: Prometheus documentation, "Exposition formats".
enum MetricsText {
    static func text(_ server: ServerContext, _ backend: StoreBackend) -> String {
        let (open, made) = server.state.withLock { ($0.connectionsOpen, $0.connectionsMade) }
        let cursors = backend.cursors.counts
        var text = ""
        family(&text, "connections_open", "gauge", "Connections that are open.", Double(open))
        family(&text, "connections_total", "counter", "Connections so far.", Double(made))
        family(&text, "cursors_open", "gauge", "Cursors that are open.", Double(cursors.total))
        family(
            &text, "cursors_timed_out_total", "counter", "Cursors that were left alone.",
            Double(cursors.timedOut))
        family(
            &text, "sessions_open", "gauge", "Logical sessions.", Double(backend.sessions.all.count)
        )
        family(
            &text, "uptime_seconds", "gauge", "Seconds since the start.",
            Double(server.uptime.components.seconds))
        let all = server.metrics.all
        head(&text, "commands_total", "counter", "Commands that were answered.")
        for (name, calls) in all { line(&text, "commands_total", name, Double(calls.count)) }
        head(&text, "command_failures_total", "counter", "Commands that were refused.")
        for (name, calls) in all {
            line(&text, "command_failures_total", name, Double(calls.failures))
        }
        head(&text, "command_seconds_total", "counter", "Time that commands took.")
        for (name, calls) in all { line(&text, "command_seconds_total", name, calls.seconds) }
        return text
    }

    private static func head(_ text: inout String, _ name: String, _ kind: String, _ help: String) {
        text += "# HELP stitchsync_\(name) \(help)\n# TYPE stitchsync_\(name) \(kind)\n"
    }

    private static func line(
        _ text: inout String, _ name: String, _ command: String, _ value: Double
    ) {
        text += "stitchsync_\(name){command=\"\(command)\"} \(value)\n"
    }

    private static func family(
        _ text: inout String, _ name: String, _ kind: String, _ help: String, _ value: Double
    ) {
        head(&text, name, kind, help)
        text += "stitchsync_\(name) \(value)\n"
    }
}
