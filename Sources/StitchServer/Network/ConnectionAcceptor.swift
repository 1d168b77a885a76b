#if Server
    internal import BSONStore
    internal import NIOCore
    internal import NIOPosix
    internal import NIOSSL

    /// The set of open connections, and the setup of new ones.
    final class ConnectionAcceptor: Sendable {
        private struct State: Sendable {
            var channels: [Int32: any Channel] = [:]
            var isStopping = false
            var room: ConnectionRoom
        }

        private let dispatcher: Dispatcher
        private let pools: CommandPools
        /// The encryption of connections; `nil` for none.
        let encryption: NIOSSLContext?
        private let state: Locked<State>

        /// The accepted TLS 1.2 cipher suites: those with forward secrecy and authenticated
        /// encryption.
        private static let cipherSuites = [
            "ECDHE-ECDSA-AES128-GCM-SHA256", "ECDHE-RSA-AES128-GCM-SHA256",
            "ECDHE-ECDSA-AES256-GCM-SHA384", "ECDHE-RSA-AES256-GCM-SHA384",
            "ECDHE-ECDSA-CHACHA20-POLY1305", "ECDHE-RSA-CHACHA20-POLY1305",
        ].joined(separator: ":")

        /// - Throws: an error when the certificates cannot be read.
        init(dispatcher: Dispatcher, pools: CommandPools) throws {
            self.dispatcher = dispatcher
            self.pools = pools
            let countMax = OpenFiles.connectionsMax(dispatcher.server.settings.connectionsMax)
            // The rest is for the other addresses.
            state = Locked(
                State(room: ConnectionRoom(countMax: countMax, ofOneMax: countMax * 3 / 4)))
            encryption = try dispatcher.server.settings.certificates.map { files in
                let chain = try NIOSSLCertificate.fromPEMFile(files.chain)
                var configuration = TLSConfiguration.makeServerConfiguration(
                    certificateChain: chain.map { .certificate($0) },
                    privateKey: .privateKey(try NIOSSLPrivateKey(file: files.key, format: .pem)))
                configuration.minimumTLSVersion = .tlsv12
                configuration.cipherSuites = Self.cipherSuites
                return try NIOSSLContext(configuration: configuration)
            }
        }

        /// Sets up a new connection, or closes it when too many are open.
        func prepare(_ channel: any Channel) -> EventLoopFuture<Void> {
            let server = dispatcher.server
            let id = server.connectionOpened()
            let connection = ClientConnection(
                id: id, peer: Self.text(channel.remoteAddress),
                local: Self.reachable(channel.localAddress),
                isSecure: encryption != nil, isLoopback: Self.isLoopback(channel.remoteAddress))
            let address = connection.addressOwner
            guard state.withLock({ $0.room.open(address) }) else {
                server.connectionClosed()
                server.settings.log.write(
                    .warning,
                    "closed a new connection: too many are open, in all or of one address "
                        + "(raise --max-connections, and the limit of open files)")
                return channel.close()
            }
            let isStopping = state.withLock { state in
                state.channels[id] = channel
                return state.isStopping
            }
            server.connections.withLock { $0[id] = connection }
            channel.closeFuture.whenComplete { [self] _ in
                server.connections.withLock { $0[id] = nil }
                server.noteDevice(connection)
                server.settings.log.write(.debug, "\(ConnectedClient(connection).line) ended")
                state.withLock { state in
                    state.channels[id] = nil
                    state.room.close(address)
                }
                server.connectionClosed()
                dispatcher.backend.connectionClosed(connection)
            }
            guard !isStopping else { return channel.close() }
            return channel.eventLoop.makeCompletedFuture {
                if let encryption {
                    try channel.pipeline.syncOperations.addHandler(
                        NIOSSLServerHandler(context: encryption))
                }
                let progress = MessageProgress()
                try channel.pipeline.syncOperations.addHandlers([
                    ByteToMessageHandler(WireDecoder(server, connection, progress: progress)),
                    ConnectionHandler(dispatcher, pools, connection, progress),
                ])
            }
        }

        /// Asks all connections to finish, and closes them after a while.
        func closeAll(within limit: Duration) async {
            let channels = state.withLock { state in
                state.isStopping = true
                return Array(state.channels.values)
            }
            let seconds = limit.components.seconds
            await withTaskGroup { group in
                for channel in channels {
                    channel.pipeline.fireUserInboundEventTriggered(StopEvent())
                    let timer = channel.eventLoop.scheduleTask(in: .seconds(seconds)) {
                        channel.close(promise: nil)
                    }
                    group.addTask {
                        do { try await channel.closeFuture.get() } catch {}
                        timer.cancel()
                    }
                }
            }
        }

        private static func text(_ address: SocketAddress?) -> String {
            guard let address else { return "unknown" }
            let host = address.ipAddress ?? "unknown"
            let port = address.port ?? 0
            return host.contains(":") ? "[\(host)]:\(port)" : "\(host):\(port)"
        }

        /// Returns the address by which clients reach the server.
        private static func reachable(_ address: SocketAddress?) -> String {
            guard isLoopback(address), let port = address?.port else { return text(address) }
            return "localhost:\(port)"
        }

        private static func isLoopback(_ address: SocketAddress?) -> Bool {
            guard let address else { return false }
            guard let host = address.ipAddress else { return true }
            return host.hasBytePrefix("127.") || host == "::1"
        }
    }
#endif
