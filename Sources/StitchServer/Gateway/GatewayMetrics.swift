internal import BSONStore

extension MetricsText {
    /// Returns the families of metrics that only a gateway has.
    static func gateway(
        feeds: Int, streams: Int, reaches: Bool, upstream: UpstreamMetrics.Sums, denials: Int
    ) -> String {
        var text = ""
        family(
            &text, "upstream_up", "gauge", "Whether the upstream answers.", reaches ? 1 : 0)
        family(
            &text, "upstream_commands_total", "counter", "Commands sent upstream.",
            Double(upstream.count))
        family(
            &text, "upstream_failures_total", "counter",
            "Commands sent upstream that got no answer.", Double(upstream.failures))
        family(
            &text, "upstream_seconds_total", "counter",
            "Time that commands sent upstream took.", upstream.seconds)
        family(
            &text, "feeds_open", "gauge", "Change streams that are followed upstream.",
            Double(feeds))
        family(
            &text, "streams_open", "gauge", "Change streams of clients.", Double(streams))
        family(
            &text, "denied_writes_total", "counter", "Writes that rules denied.",
            Double(denials))
        return text
    }
}

/// The sizes at the upstream that the console shows.
struct UpstreamSizes {
    let link: UpstreamLink

    /// Returns the number of shared conflicts and the bytes on disk; `nil` for one that the
    /// gateway's user may not read.
    func read() -> (conflicts: Int64?, bytes: Int64?) {
        let conflicts = number(
            "n", ["count": .string(GatewayDatabase.conflicts.collection)], GatewayDatabase.name)
        return (conflicts, number("totalSize", ["listDatabases": 1], "admin"))
    }

    private func number(_ field: String, _ command: BSONDocument, _ database: String) -> Int64? {
        do {
            let reply = try link.run(command, on: database, repeatedAs: .read, for: nil)
            return reply[field]?.int64Value
        } catch {
            // The console shows a dash; without an upstream its tile says so.
            return nil
        }
    }
}
