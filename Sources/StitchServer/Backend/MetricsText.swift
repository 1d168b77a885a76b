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
        clients(&text, server)
        return text + counts.text
    }

    /// The maximum number of apps with figures of their own; users choose their names.
    private static let appsMax = 20
    /// The maximum length of an app's name, in characters.
    private static let appNameMax = 64

    /// Adds the open connections by the kind of their users and by apps, the most used first.
    private static func clients(_ text: inout String, _ server: ServerContext) {
        var kinds: [Name: Int] = [:]
        var apps: [Name: Int] = [:]
        for (client, _, _) in server.clients {
            kinds[Name(client.userKind), default: 0] += 1
            let app = String(client.app.unicodeScalars.prefix(appNameMax))
            if !app.isEmpty { apps[Name(app), default: 0] += 1 }
        }
        head(&text, "connections_by_user_kind", "gauge", "Open connections by kind of user.")
        for (kind, count) in kinds.sorted(by: { $0.key < $1.key }) {
            text += "stitchsync_connections_by_user_kind{kind=\"\(kind.text)\"} \(count)\n"
        }
        head(&text, "connections_by_app", "gauge", "Open connections of users by app.")
        let sorted = apps.sorted { ($1.value, $0.key) < ($0.value, $1.key) }
        for (app, count) in sorted.prefix(appsMax) {
            let label = escaped(app.text)
            text += "stitchsync_connections_by_app{app=\"\(label)\"} \(count)\n"
        }
        let others = sorted.dropFirst(appsMax).reduce(0) { $0 + $1.value }
        guard others > 0 else { return }
        text += "stitchsync_connections_by_app{app=\"\"} \(others)\n"
    }

    /// Returns a label's value, escaped as the format demands.
    private static func escaped(_ label: String) -> String {
        label.replacing("\\", with: "\\\\").replacing("\"", with: "\\\"")
            .replacing("\n", with: "\\n")
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
