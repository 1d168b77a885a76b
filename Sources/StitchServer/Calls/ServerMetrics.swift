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

    /// Counts an answered command, once.
    ///
    /// - Parameter name: the command's name; `nil` for unknown commands, which are counted together.
    func note(_ name: String?, _ outcome: CommandOutcome, _ duration: Duration) {
        let seconds = duration / .seconds(1)
        let isFailure =
            if case .reply(let reply) = outcome { reply["ok"] == 0.0 } else { false }
        let known = name ?? "unknown"
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
