internal import BSONStore

/// The statistics of commands, for Prometheus.
final class ServerMetrics: Sendable {
    /// The statistics of one command.
    struct Calls: Sendable, Hashable {
        var count = 0
        var failures = 0
        var seconds = 0.0
    }

    private struct State: Sendable {
        var calls: [String: Calls] = [:]
        /// The times of the last commands in milliseconds, in a ring.
        var times: [Float] = []
        /// The place in the ring of the next time.
        var next = 0

        mutating func add(_ time: Float) {
            if times.count < ServerMetrics.timesMax {
                times.append(time)
            } else {
                times[next] = time
                next = (next + 1) % times.count
            }
        }
    }

    private static let timesMax = 1_024
    private let state = Locked(State())

    /// Counts an answered command, once.
    ///
    /// - Parameter name: the command's name; `nil` for unknown commands, which are counted together.
    func note(_ name: String?, _ outcome: CommandOutcome, _ duration: Duration) {
        let seconds = duration / .seconds(1)
        let isFailure =
            if case .reply(let reply) = outcome { reply["ok"] == 0.0 } else { false }
        let known = name ?? "unknown"
        state.withLock { state in
            state.add(Float(seconds * 1_000))
            state.calls[known, default: Calls()].count += 1
            state.calls[known, default: Calls()].seconds += seconds
            if isFailure { state.calls[known, default: Calls()].failures += 1 }
        }
    }

    /// The median and the 99th percentile of the times of the last commands, in milliseconds.
    var latency: (median: Double, ninetyNinth: Double) {
        let sorted = state.withLock { $0.times }.sorted()
        guard !sorted.isEmpty else { return (0, 0) }
        return (Double(sorted[sorted.count / 2]), Double(sorted[sorted.count * 99 / 100]))
    }

    /// The statistics by command.
    var all: [(name: String, calls: Calls)] {
        state.withLock { $0.calls }.sorted { $0.key < $1.key }.map { ($0.key, $0.value) }
    }
}
