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
    /// The times of the last commands in milliseconds, in a ring.
    private let times = Locked<(values: [Float], next: Int)>(([], 0))
    private static let timesMax = 1_024

    /// Counts an answered command, once.
    ///
    /// - Parameter name: the command's name; `nil` for unknown commands, which are counted together.
    func note(_ name: String?, _ outcome: CommandOutcome, _ duration: Duration) {
        let seconds = duration / .seconds(1)
        let isFailure =
            if case .reply(let reply) = outcome { reply["ok"] == 0.0 } else { false }
        times.withLock { times in
            let value = Float(seconds * 1_000)
            if times.values.count < Self.timesMax {
                times.values.append(value)
            } else {
                times.values[times.next] = value
                times.next = (times.next + 1) % Self.timesMax
            }
        }
        let known = name ?? "unknown"
        calls.withLock { calls in
            calls[known, default: Calls()].count += 1
            calls[known, default: Calls()].seconds += seconds
            if isFailure { calls[known, default: Calls()].failures += 1 }
        }
    }

    /// The median and the 99th percentile of the times of the last commands, in milliseconds.
    var latency: (median: Double, ninetyNinth: Double) {
        let sorted = times.withLock { $0.values }.sorted()
        guard !sorted.isEmpty else { return (0, 0) }
        return (Double(sorted[sorted.count / 2]), Double(sorted[sorted.count * 99 / 100]))
    }

    /// The statistics by command.
    var all: [(name: String, calls: Calls)] {
        calls.withLock { $0 }.sorted { $0.key < $1.key }.map { ($0.key, $0.value) }
    }
}
