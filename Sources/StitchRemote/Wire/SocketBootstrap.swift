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
            private static var bootstrap: NIOTSConnectionBootstrap {
                NIOTSConnectionBootstrap(group: NIOTSEventLoopGroup.singleton)
            }

            /// The loop for timers that belong to no connection.
            static var loop: any EventLoop { NIOTSEventLoopGroup.singleton.next() }
        #else
            private static var bootstrap: ClientBootstrap {
                ClientBootstrap(group: MultiThreadedEventLoopGroup.singleton)
                    .channelOption(.socketOption(.so_keepalive), value: 1)
                    .channelOption(.tcpOption(.tcp_nodelay), value: 1)
            }

            /// The loop for timers that belong to no connection.
            static var loop: any EventLoop { MultiThreadedEventLoopGroup.singleton.next() }
        #endif

        /// Connects to an address, after a body has added handlers to the channel.
        static func connect(
            to address: ServerAddress, within limit: TimeAmount,
            _ prepare: @escaping @Sendable (any Channel) throws -> Void
        ) -> EventLoopFuture<any Channel> {
            bootstrap.connectTimeout(limit)
                .channelInitializer { channel in
                    channel.eventLoop.makeCompletedFuture { try prepare(channel) }
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
