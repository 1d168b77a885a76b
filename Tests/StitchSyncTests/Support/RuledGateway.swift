#if MongoRemote
    import BSONStore
    import Foundation
    import StitchSync
    import TestProcesses

    /// A gateway that binds `ann` by rules, and its upstream, which end together.
    final class RuledGateway: KillableServer {
        private struct Processes {
            var upstream: ServerProcess
            var gateway: ServerProcess
        }

        /// The file of the upstream.
        let upstreamPath: String
        private let processes: Locked<Processes>
        private let folder: URL
        private let namespace: Namespace
        private let run: @Sendable (BSONDocument) throws -> Void
        /// What each was started with; the gateway expects the upstream at one port.
        private let upstreamArguments: [String]
        private let gatewayArguments: [String]

        private init(_ roles: String, _ namespace: Namespace) throws {
            self.namespace = namespace
            let upstreamPort = try Loopback.freePort()
            upstreamArguments = ["--port", String(upstreamPort)]
            folder = FileManager.default.temporaryDirectory.appending(path: "ruled-\(UUID())")
            try RuledWorld.write(roles, into: folder, for: namespace)
            gatewayArguments = [
                "--upstream", GatewayProcesses.uri(port: upstreamPort), "--auth", "--rules",
                folder.path,
            ]
            let upstream = try ServerProcess.start(upstreamArguments)
            upstreamPath = upstream.path
            let gateway = try ServerProcess.start(gatewayArguments, hasFile: false)
            run = try RuledWorld.administrator(port: gateway.port, role: namespace.database)
            processes = Locked(Processes(upstream: upstream, gateway: gateway))
        }

        /// Starts both, and makes `ann`.
        ///
        /// - Returns: the gateway, and its address for her.
        static func start(
            _ roles: String, _ namespace: Namespace
        ) throws -> (RuledGateway, ServedAddress) {
            let gateway = try RuledGateway(roles, namespace)
            var address = ServedAddress(port: gateway.port)
            address.user = gateway.user
            return (gateway, address)
        }

        var port: Int { processes.withLock { $0.gateway.port } }
        var user: (name: String, password: String)? { ("ann", "pw") }

        func killAndRestart(_ part: KilledPart) throws -> Int {
            try processes.withLock { processes in
                switch part {
                case .server: try processes.gateway.restart(SIGKILL, gatewayArguments)
                case .upstream: try processes.upstream.restart(SIGKILL, upstreamArguments)
                }
                return processes.gateway.port
            }
        }

        deinit {
            processes.withLock { processes in
                processes.gateway.remove()
                processes.upstream.remove()
            }
            do { try FileManager.default.removeItem(at: folder) } catch {}
        }

        /// Has the gateway bind by other roles from now on.
        func use(_ roles: String) throws {
            try RuledWorld.write(roles, into: folder, for: namespace)
            try run(["reloadRules": 1])
        }
    }

    /// A remote together with its gateway, which ends after the last connection to it.
    final class GatewayRemote: Remote {
        private let base: any Remote
        private let gateway: RuledGateway

        init(_ base: any Remote, _ gateway: RuledGateway) {
            self.base = base
            self.gateway = gateway
        }

        func collection(_ namespace: Namespace) -> any RemoteCollection {
            base.collection(namespace)
        }

        var reachability: AsyncStream<Bool>? { base.reachability }
    }
#endif
