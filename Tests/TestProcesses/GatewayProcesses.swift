package import Foundation

/// Gateways as processes, with the server process that stands for the MongoDB deployment behind them.
package final class GatewayProcesses {
    /// The upstream, without rules or users.
    package let upstream: ServerProcess
    /// The gateways, which share nothing but the upstream.
    package let gateways: [ServerProcess]

    private init(_ upstream: ServerProcess, _ gateways: [ServerProcess]) {
        self.upstream = upstream
        self.gateways = gateways
    }

    /// The ports of the gateways.
    package var ports: [Int] { gateways.map(\.port) }

    /// Returns the URI of an upstream on this machine.
    package static func uri(port: Int) -> String {
        "mongodb://127.0.0.1:\(port)/?replicaSet=rs0"
    }

    /// Starts an upstream and gateways, lends them, and ends them.
    ///
    /// - Parameters:
    ///   - count: the number of gateways.
    ///   - arguments: the gateways' further arguments.
    ///   - upstreamArguments: the upstream's arguments.
    package static func run<R>(
        _ count: Int = 2, _ arguments: [String] = [], upstreamArguments: [String] = [],
        log: URL? = nil, _ body: (GatewayProcesses) async throws -> R
    ) async throws -> R {
        try await ServerProcess.run(upstreamArguments) { upstream in
            let own = ["--upstream", uri(port: upstream.port)] + arguments
            return try await run(count, own, log, [], upstream, body)
        }
    }

    private static func run<R>(
        _ count: Int, _ arguments: [String], _ log: URL?, _ gateways: [ServerProcess],
        _ upstream: ServerProcess, _ body: (GatewayProcesses) async throws -> R
    ) async throws -> R {
        guard gateways.count < count else {
            return try await body(GatewayProcesses(upstream, gateways))
        }
        return try await ServerProcess.run(arguments, hasFile: false, log: log) { gateway in
            try await run(count, arguments, log, gateways + [gateway], upstream, body)
        }
    }
}
