#if Server
    package import BSONStore
    internal import NIOCore
    internal import NIOPosix
    internal import StitchWire

    /// A server that speaks MongoDB's wire protocol over a document store.
    package final class Server: Sendable {
        private let context: ServerContext
        private let backend: any CommandBackend
        private let pools: CommandPools
        private let group: MultiThreadedEventLoopGroup
        private let listener: any Channel
        private let opening: ConnectionAcceptor
        private let tidying: RepeatedTask
        private let metrics: (any Channel)?
        private let console: (any Channel)?

        /// Opens the store's backend and listens for clients.
        ///
        /// - Parameter store: the documents; the server closes it when it stops.
        /// - Throws: `UnsafeSettings` for settings that let strangers in, `ListenError` when an
        ///   address is taken.
        package static func start(
            _ store: DocumentStore, settings: ServerSettings
        ) async throws -> Server {
            try checkSafety(settings)
            let context = ServerContext(settings: settings)
            return try await start(try StoreBackend(store: store, server: context), context)
        }

        /// Serves a MongoDB deployment as a gateway, and listens for clients.
        ///
        /// - Throws: `UnsafeSettings` for settings that let strangers in, `ListenError` when an
        ///   address is taken, `CommandFailure` when the deployment cannot be reached.
        package static func start(
            gatewayTo upstream: any Upstream, settings: ServerSettings
        ) async throws -> Server {
            try checkSafety(settings)
            guard try settings.rules != nil || isLoopback(settings.host) else {
                throw UnsafeSettings(
                    description:
                        "cannot listen on \(settings.host), which other machines can reach, as a "
                        + "gateway without rules (set --auth and --rules)")
            }
            var settings = settings
            settings.version = .seven
            let context = ServerContext(settings: settings)
            return try await start(try GatewayBackend(upstream, context), context)
        }

        private static func start(
            _ backend: any CommandBackend, _ context: ServerContext
        ) async throws -> Server {
            let settings = context.settings
            let group = MultiThreadedEventLoopGroup(numberOfThreads: System.coreCount)
            let pools = CommandPools(threadsMax: settings.threadsMax, group.next())
            do {
                return try await listen(context, backend, pools, group)
            } catch {
                // A failed start leaves neither threads nor an open port.
                let reason = error
                do {
                    try await group.shutdownGracefully()
                    try await pools.shutdown()
                } catch {
                    settings.log.write(.warning, "cannot end the threads of the server: \(error)")
                }
                throw reason
            }
        }

        private static func listen(
            _ context: ServerContext, _ backend: any CommandBackend, _ pools: CommandPools,
            _ group: MultiThreadedEventLoopGroup
        ) async throws -> Server {
            let settings = context.settings
            let opening = try ConnectionAcceptor(
                dispatcher: Dispatcher(server: context, backend: backend), pools: pools)
            let bootstrap = ServerBootstrap(group: group)
                .serverChannelOption(.socketOption(.so_reuseaddr), value: 1)
                .serverChannelOption(.backlog, value: 1_024)
                .childChannelInitializer { channel in opening.prepare(channel) }
                .childChannelOption(.tcpOption(.tcp_nodelay), value: 1)
                .childChannelOption(.maxMessagesPerRead, value: 1)
            let listener = try await naming("\(settings.host):\(settings.port)") {
                try await bootstrap.bind(host: settings.host, port: settings.port).get()
            }
            var metrics: (any Channel)?
            if let port = settings.metricsPort {
                metrics = try await naming("\(settings.metricsHost):\(port)") {
                    try await MetricsHandler.listen(
                        on: settings.metricsHost, port, group,
                        within: .seconds(Int64(settings.handshakeTimeoutSeconds))
                    ) {
                        MetricsText.text(context, backend.counts)
                    } isReady: {
                        backend.isReady
                    }
                }
            }
            var console: (any Channel)?
            if let port = settings.consolePort {
                let pages = Console(
                    context, backend, isSecure: opening.encryption != nil,
                    isLocal: try isLoopback(settings.consoleHost))
                console = try await naming("\(settings.consoleHost):\(port)") {
                    try await ConsoleHandler.listen(
                        on: settings.consoleHost, port, group, opening.encryption, pages, pools)
                }
            }
            for keys in context.tokenKeys { keys.prefetch() }
            settings.log.write(
                .notice, "listening on \(settings.host):\(listener.localAddress?.port ?? 0)")
            return Server(context, backend, pools, group, listener, opening, metrics, console)
        }

        /// Listens, and adds the address to the error when that fails.
        private static func naming(
            _ address: String, _ listen: () async throws -> any Channel
        ) async throws -> any Channel {
            do {
                return try await listen()
            } catch {
                throw ListenError(address, error)
            }
        }

        /// Refuses a public address without sign-in and encryption, tokens without encryption, and
        /// strangers without rules.
        private static func checkSafety(_ settings: ServerSettings) throws {
            if settings.allowsAnonymous || settings.signUps != nil {
                guard settings.requiresSignIn, settings.rules != nil else {
                    throw UnsafeSettings(
                        description:
                            "cannot let strangers in without sign-in and rules, because everyone "
                            + "could read and write everything (set --auth and --rules)")
                }
            }
            if !settings.tokenProviders.isEmpty {
                guard settings.certificates != nil else {
                    throw UnsafeSettings(
                        description:
                            "cannot accept tokens over connections without encryption "
                            + "(set --tls-cert and --tls-key)")
                }
                try TokenProvider.checkDifferent(settings.tokenProviders)
                for case .file(let path) in settings.tokenProviders.map(\.keys) {
                    guard !(try WebKey.keys(inFile: path)).isEmpty else {
                        throw UnsafeSettings(
                            description: "cannot accept tokens: \(path) has no signing key")
                    }
                }
            }
            if settings.consolePort != nil, try !isLoopback(settings.consoleHost) {
                guard settings.requiresSignIn, settings.certificates != nil else {
                    throw UnsafeSettings(
                        description:
                            "cannot open the console on \(settings.consoleHost), which other "
                            + "machines can reach, without sign-in and encryption (set --auth, "
                            + "--tls-cert and --tls-key)")
                }
            }
            guard try !isLoopback(settings.host) else { return }
            guard settings.requiresSignIn, settings.certificates != nil else {
                throw UnsafeSettings(
                    description:
                        "cannot listen on \(settings.host), which other machines can reach, "
                        + "without sign-in and encryption (set --auth, --tls-cert and --tls-key)")
            }
        }

        private static func isLoopback(_ name: String) throws -> Bool {
            let address = try SocketAddress.makeAddressResolvingHost(name, port: 0)
            let host = address.ipAddress ?? name
            return host.hasBytePrefix("127.") || host == "::1"
        }

        private init(
            _ context: ServerContext, _ backend: any CommandBackend, _ pools: CommandPools,
            _ group: MultiThreadedEventLoopGroup, _ listener: any Channel,
            _ opening: ConnectionAcceptor,
            _ metrics: (any Channel)?, _ console: (any Channel)?
        ) {
            self.context = context
            self.backend = backend
            self.pools = pools
            self.group = group
            self.listener = listener
            self.opening = opening
            self.metrics = metrics
            self.console = console
            let isRunning = Locked(false)
            tidying = group.next().scheduleRepeatedTask(
                initialDelay: .seconds(1), delay: .seconds(1)
            ) { _ in
                // A run that waits, such as for a writer, does not occupy a second thread.
                let wasRunning = isRunning.withLock { isRunning in
                    defer { isRunning = true }
                    return isRunning
                }
                guard !wasRunning else { return }
                pools.run { isActive in
                    defer { isRunning.withLock { $0 = false } }
                    guard isActive else { return }
                    // The next run, a second later, tries again.
                    do { try backend.tidy() } catch {}
                }
            }
        }

        /// The port for clients.
        package var port: Int { listener.localAddress?.port ?? 0 }

        /// The port for Prometheus; `nil` without metrics.
        package var metricsPort: Int? { metrics?.localAddress?.port }

        /// The port of the console; `nil` without one.
        package var consolePort: Int? { console?.localAddress?.port }

        /// The time for which running commands may continue once the server stops.
        private static let graceAtStop = TimeAmount.seconds(1)
        /// The time for which tokens are still sent once the server stops.
        private static let sendingAtStop: Duration = .seconds(1)

        /// Closes the listeners, waits for running commands or interrupts them, and closes the
        /// store.
        package func stop(within limit: Duration = .seconds(10)) async throws {
            context.state.withLock { $0.isStopping = true }
            tidying.cancel()
            context.settings.log.write(.notice, "stopping")
            try await listener.close()
            let operations = context.operations
            operations.stopWaiting()
            let ending = group.next().scheduleTask(in: Self.graceAtStop) { operations.stopAll() }
            await opening.closeAll(within: limit)
            ending.cancel()
            operations.stopAll()
            // Until now, it has answered load balancers that the server is not ready.
            try await metrics?.close()
            try await console?.close()
            // Writers must not wait for transactions that no client will end.
            backend.endTransactions()
            // Steps that end use the event loops.
            try await pools.shutdown()
            try await group.shutdownGracefully()
            context.mailer?.finish(within: Self.sendingAtStop)
            backend.close()
        }
    }
#endif
