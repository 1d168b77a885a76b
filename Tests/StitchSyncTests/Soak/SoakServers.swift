#if Remote
    import BSONStore
    import Foundation
    import TestProcesses

    /// What the devices of a soak sync with, in processes that can be killed.
    protocol SoakServers: Sendable {
        /// The documents of all users, past the rules.
        var documents: DocumentStore { get }
        /// The ports that devices may connect to; others after each kill.
        var ports: [Int] { get }

        /// Kills what the dice choose, and starts it again.
        func killAndRestart(_ dice: inout Dice) throws
    }

    extension DocumentStore {
        /// Opens the file of a server's process beside it.
        static func ofServer(_ path: String) throws -> DocumentStore {
            try DocumentStore(
                at: .file(path), options: .init(changeHistory: .keep(changesMax: 1_000_000)))
        }
    }

    /// A server on a file.
    final class SoakServer: SoakServers {
        private let holder: ServerHolder
        let documents: DocumentStore

        var ports: [Int] { [holder.port] }

        init(rules: String) throws {
            let arguments = ["--auth", "--sign-up", "--rules", rules]
            let process = try ServerProcess.start(arguments)
            let path = process.path
            holder = ServerHolder(process, arguments)
            documents = try .ofServer(path)
        }

        deinit { documents.close() }

        func killAndRestart(_ dice: inout Dice) throws { _ = try holder.killAndRestart() }
    }

    /// Two gateways and their upstream, which is a server on a file.
    final class SoakGateways: SoakServers {
        private struct Processes {
            let upstream: ServerProcess
            let gateways: [ServerProcess]
        }

        private let processes: Locked<Processes>
        private let upstreamArguments: [String]
        private let gatewayArguments: [String]
        let documents: DocumentStore

        var ports: [Int] { processes.withLock { $0.gateways.map(\.port) } }

        init(rules: String) throws {
            let port = try Loopback.freePort()
            upstreamArguments = ["--port", String(port)]
            let arguments = [
                "--upstream", GatewayProcesses.uri(port: port), "--auth", "--sign-up", "--rules",
                rules,
            ]
            gatewayArguments = arguments
            let upstream = try ServerProcess.start(upstreamArguments)
            let gateways = try (0..<2).map { _ in
                try ServerProcess.start(arguments, hasFile: false)
            }
            documents = try .ofServer(upstream.path)
            processes = Locked(Processes(upstream: upstream, gateways: gateways))
        }

        deinit {
            documents.close()
            processes.withLock { processes in
                for process in processes.gateways + [processes.upstream] { process.remove() }
            }
        }

        /// Kills one gateway, the upstream, or all at once.
        func killAndRestart(_ dice: inout Dice) throws {
            let choice = dice.below(4)
            try processes.withLock { processes in
                let gateways = choice == 2 ? [] : choice == 3 ? [0, 1] : [choice]
                for index in gateways { processes.gateways[index].end(SIGKILL) }
                // A gateway does not start while its upstream is away.
                if choice >= 2 { try processes.upstream.restart(SIGKILL, upstreamArguments) }
                for index in gateways {
                    try processes.gateways[index].restart(SIGKILL, gatewayArguments)
                }
            }
        }
    }
#endif
