#if Server
    package import BSONStore
    internal import NIOCore
    internal import NIOPosix

    /// The pages about one device's file, for a browser on this machine.
    package final class DeviceConsole: Sendable {
        private let device: ConsoleDevice
        private let pools: CommandPools
        private let group: MultiThreadedEventLoopGroup
        private let listener: any Channel
        private let tidying: RepeatedTask

        /// The pause between two looks for cursors that no page reads on.
        private static let tidyingEvery = TimeAmount.seconds(10)

        /// Listens on this machine.
        ///
        /// - Parameters:
        ///   - name: the file's name for people.
        ///   - port: the port; 0 for any free one.
        ///   - open: opens the file for reading, for one request each.
        ///   - read: answers what a page about sync asks, by the page's name and the query; `nil` for
        ///     an unknown page. It may block.
        /// - Throws: `ListenError` when the port is taken.
        package static func start(
            _ name: String, port: Int, open: @escaping @Sendable () throws -> DocumentStore,
            read:
                @escaping @Sendable (_ page: String, _ query: [Name: String]) throws ->
                BSONDocument?
        ) async throws -> DeviceConsole {
            let context = ServerContext(settings: ServerSettings())
            let services = try StoreBackend(
                store: try DocumentStore(
                    at: .inMemory, options: .init(changeHistory: .keep(changesMax: changesMax))),
                server: context)
            let device = ConsoleDevice(name: name, services: services, open: open, read: read)
            let group = MultiThreadedEventLoopGroup(numberOfThreads: 1)
            let pools = CommandPools(threadsMax: threadsMax, group.next())
            let console = Console(
                context, services, isSecure: false, isLocal: true, device: device)
            do {
                let listener = try await ConsoleHandler.listen(
                    on: host, port, group, nil, console, pools)
                return DeviceConsole(device, pools, group, listener)
            } catch {
                let reason = ListenError("\(host):\(port)", error)
                try await pools.shutdown()
                try await group.shutdownGracefully()
                services.close()
                throw reason
            }
        }

        private static let host = "127.0.0.1"
        private static let threadsMax = 4
        /// The changes that the store of users and sessions, which never change, keeps.
        private static let changesMax = 1

        private init(
            _ device: ConsoleDevice, _ pools: CommandPools, _ group: MultiThreadedEventLoopGroup,
            _ listener: any Channel
        ) {
            self.device = device
            self.pools = pools
            self.group = group
            self.listener = listener
            let services = device.services
            tidying = group.next().scheduleRepeatedTask(
                initialDelay: Self.tidyingEvery, delay: Self.tidyingEvery
            ) { _ in
                pools.run { isActive in
                    guard isActive else { return }
                    // The next run tries again.
                    do { try services.tidy() } catch {}
                }
            }
        }

        /// The port.
        package var port: Int { listener.localAddress?.port ?? 0 }

        /// The address to open, with the secret that lets the browser in.
        package var address: String { "http://\(Self.host):\(port)/?token=\(device.token)" }

        /// Closes the listener and all connections.
        package func stop() async throws {
            tidying.cancel()
            try await listener.close()
            try await pools.shutdown()
            try await group.shutdownGracefully()
            device.services.close()
        }
    }
#endif
