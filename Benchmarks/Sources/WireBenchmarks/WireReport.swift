import Foundation
import Synchronization

/// What was measured, by row.
final class WireReport: Sendable {
    /// One measurement of a row.
    struct Measure: Sendable {
        let time: Duration
        let deviceTime: Duration
        let serverTime: Duration
        let count: Int
        let requests: Int
    }

    private struct State {
        var names: [String] = []
        var measures: [String: [Measure]] = [:]
        var latencies: [Double] = []
    }

    private let state = Mutex(State())

    func add(_ name: String, _ measure: Measure) {
        state.withLock { state in
            if state.measures[name] == nil { state.names.append(name) }
            state.measures[name, default: []].append(measure)
        }
    }

    /// Adds the times of single changes in milliseconds.
    func add(latencies: [Double]) { state.withLock { $0.latencies += latencies } }

    /// Prints the medians: milliseconds, operations a second, microseconds of CPU an operation, and
    /// requests.
    func print() {
        state.withLock { state in
            for name in state.names {
                let measures = (state.measures[name] ?? []).sorted { $0.time < $1.time }
                let median = measures[measures.count / 2]
                let each = Double(median.count)
                Swift.print(
                    String(
                        format: "%-16@ %8.1f ms %8.0f/s  CPU of device %6.1f us, of server %6.1f us"
                            + "  %6d requests", name as NSString,
                        median.time / .milliseconds(1), each / (median.time / .seconds(1)),
                        median.deviceTime / .microseconds(1) / each,
                        median.serverTime / .microseconds(1) / each, median.requests))
            }
            guard !state.latencies.isEmpty else { return }
            let sorted = state.latencies.sorted()
            Swift.print(
                String(
                    format: "%-16@ median %.2f ms  p99 %.2f ms  of %d", "one change" as NSString,
                    sorted[sorted.count / 2], sorted[sorted.count * 99 / 100], sorted.count))
        }
    }
}
