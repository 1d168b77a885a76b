internal import BSONStore

/// The statistics of a server in Prometheus's text format.
///
/// Source: Prometheus documentation, "Exposition formats".
enum MetricsText {
    static func text(_ server: ServerContext, _ counts: BackendCounts) -> String {
        let (open, made) = server.state.withLock { ($0.connectionsOpen, $0.connectionsMade) }
        let cursors = counts.cursors
        var text = ""
        family(&text, "connections_open", "gauge", "Connections that are open.", Double(open))
        family(&text, "connections_total", "counter", "Connections so far.", Double(made))
        family(&text, "cursors_open", "gauge", "Cursors that are open.", Double(cursors.total))
        family(
            &text, "cursors_timed_out_total", "counter", "Cursors that were left alone.",
            Double(cursors.timedOut))
        family(
            &text, "sessions_open", "gauge", "Logical sessions.", Double(counts.sessions))
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
        return text + counts.text
    }

    private static func head(_ text: inout String, _ name: String, _ kind: String, _ help: String) {
        text += "# HELP stitchsync_\(name) \(help)\n# TYPE stitchsync_\(name) \(kind)\n"
    }

    private static func line(
        _ text: inout String, _ name: String, _ command: String, _ value: Double
    ) {
        text += "stitchsync_\(name){command=\"\(command)\"} \(value)\n"
    }

    static func family(
        _ text: inout String, _ name: String, _ kind: String, _ help: String, _ value: Double
    ) {
        head(&text, name, kind, help)
        text += "stitchsync_\(name) \(value)\n"
    }
}
