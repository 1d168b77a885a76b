#if Server
    internal import BSONStore
    internal import NIOCore
    internal import NIOPosix

    /// The listening of the server's pages and metrics, beside the database's port.
    enum HTTPListener {
        /// Listens on a port, with a limit on open connections: more would take files from the
        /// database's port.
        ///
        /// - Parameters:
        ///   - countMax: the maximum number of open connections.
        ///   - ofOneMax: the maximum number of one address.
        ///   - prepare: adds the handlers of a new connection, on its event loop.
        /// - Throws: an error when the port is taken.
        static func listen(
            on host: String, _ port: Int, _ group: MultiThreadedEventLoopGroup, countMax: Int,
            ofOneMax: Int, _ prepare: @escaping @Sendable (any Channel) throws -> Void
        ) async throws -> any Channel {
            let room = Locked(ConnectionRoom(countMax: countMax, ofOneMax: ofOneMax))
            return try await ServerBootstrap(group: group)
                .serverChannelOption(.socketOption(.so_reuseaddr), value: 1)
                .childChannelInitializer { channel in
                    let address = Array((channel.remoteAddress?.ipAddress ?? "").utf8)
                    guard room.withLock({ $0.open(address) }) else { return channel.close() }
                    channel.closeFuture.whenComplete { _ in
                        room.withLock { $0.close(address) }
                    }
                    return channel.eventLoop.makeCompletedFuture { try prepare(channel) }
                }
                .bind(host: host, port: port).get()
        }
    }
#endif
