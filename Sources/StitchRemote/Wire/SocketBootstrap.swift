#if Remote
    internal import BSONStore
    internal import NIOCore

    #if canImport(Network)
        internal import NIOTransportServices
    #else
        internal import NIOPosix
    #endif

    /// The making of connections: by Network.framework on Apple's platforms, by sockets elsewhere.
    enum SocketBootstrap {
        #if canImport(Network)
            private static func bootstrap(
                to address: ServerAddress, _ security: TransportSecurity?
            ) -> NIOTSConnectionBootstrap {
                let bootstrap = NIOTSConnectionBootstrap(group: NIOTSEventLoopGroup.singleton)
                    // Else a refused connection would wait for another network.
                    .channelOption(NIOTSChannelOptions.waitForActivity, value: false)
                return security.map { bootstrap.tlsOptions($0.options(for: address)) } ?? bootstrap
            }

            private static func secure(
                _ channel: any Channel, _ address: ServerAddress, _ security: TransportSecurity
            ) throws {
                // Network.framework encrypts what the channel sends.
            }

            /// The loop for timers that belong to no connection.
            static var loop: any EventLoop { NIOTSEventLoopGroup.singleton.next() }
        #else
            private static func bootstrap(
                to address: ServerAddress, _ security: TransportSecurity?
            ) -> ClientBootstrap {
                ClientBootstrap(group: MultiThreadedEventLoopGroup.singleton)
                    .channelOption(.tcpOption(.tcp_nodelay), value: 1)
            }

            private static func secure(
                _ channel: any Channel, _ address: ServerAddress, _ security: TransportSecurity
            ) throws {
                try channel.pipeline.syncOperations.addHandler(security.handler(for: address))
            }

            /// The loop for timers that belong to no connection.
            static var loop: any EventLoop { MultiThreadedEventLoopGroup.singleton.next() }
        #endif

        /// Connects to an address, encrypted if `security` is given, after a body has added handlers
        /// to the channel.
        static func connect(
            to address: ServerAddress, _ security: TransportSecurity?, within limit: TimeAmount,
            _ prepare: @escaping @Sendable (any Channel) throws -> Void
        ) -> EventLoopFuture<any Channel> {
            bootstrap(to: address, security)
                .connectTimeout(limit)
                .channelOption(.socketOption(.so_keepalive), value: 1)
                .channelInitializer { channel in
                    channel.eventLoop.makeCompletedFuture {
                        if let security { try secure(channel, address, security) }
                        try prepare(channel)
                    }
                }
                .connect(host: address.host, port: address.port)
        }

        /// Waits; returns at once when the task is cancelled.
        static func pause(_ duration: Duration) async {
            let end = FirstAnswer<Void>()
            let timer = loop.scheduleTask(in: .of(duration)) { end.give(()) }
            await withTaskCancellationHandler {
                await end.value
            } onCancel: {
                end.give(())
            }
            timer.cancel()
        }
    }
#endif
