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
