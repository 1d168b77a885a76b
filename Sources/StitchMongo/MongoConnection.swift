#if MongoRemote
    internal import BSONStore
    internal import StitchCommands
    internal import StitchSync

    /// The shared state of a remote's collections: clients, threads, and whether a primary is
    /// reachable.
    final class MongoConnection: Sendable {
        /// The current client pool; earlier pools close once they are unused.
        var pool: MongoClientPool { current.withLock { $0 } }
        private let current: Locked<MongoClientPool>
        private let makePool: @Sendable () throws(MongoFailure) -> MongoClientPool
        /// The threads that run requests.
        let requests: MongoThreads
        /// The threads that wait for changes, which must not delay requests.
        let waits: MongoThreads
        /// Whether batches are sent as `bulkWrite`; `nil` asks the server's version.
        let usesBulkWrite: Bool?
        private let watchers: MongoReachability

        init(uri: String, options: MongoRemote.Options) throws(RemoteError) {
            let (requestsMax, followersMax) = (
                max(1, options.requestsMax), max(1, options.followersMax)
            )
            let watchers = MongoReachability()
            let make = { @Sendable () throws(MongoFailure) -> MongoClientPool in
                try MongoClientPool(
                    uri: uri,
                    settings: .init(
                        applicationName: options.applicationName,
                        serverSelectionTimeout: options.serverSelectionTimeout,
                        socketTimeout: options.socketTimeout,
                        // For requests, and for the streams that collections keep open.
                        clientsMax: 10_000),
                    onTopologyChange: { watchers.note($0) })
            }
            makePool = make
            do throws(MongoFailure) {
                current = Locked(try make())
            } catch {
                throw RemoteError(.rejected, "the URI cannot be used: \(error.message)")
            }
            self.watchers = watchers
            usesBulkWrite = options.usesBulkWrite
            requests = MongoThreads(threadsMax: requestsMax)
            waits = MongoThreads(threadsMax: followersMax)
        }

        /// Runs a body with a client on a thread of the remote.
        func request<R: Sendable>(
            _ body: @escaping @Sendable (MongoClient) throws(MongoFailure) -> R
        ) async throws(RemoteError) -> R {
            try await requests.run { (_) throws(RemoteError) in
                try self.reauthenticating { (pool, _) throws(RemoteError) in
                    do throws(MongoFailure) {
                        return try pool.withClient(body)
                    } catch {
                        throw error.remoteError
                    }
                }
            }
        }

        /// Runs a body, and once more over new connections if the server reports the connection as
        /// not authenticated.
        ///
        /// This happens after the user was dropped, even if created again: a connection
        /// authenticates only once.
        ///
        /// - Parameter body: receives the clients, and whether they are new.
        func reauthenticating<R>(
            _ body: (MongoClientPool, Bool) throws(RemoteError) -> R
        ) throws(RemoteError) -> R {
            let pool = pool
            do throws(RemoteError) {
                return try body(pool, false)
            } catch {
                guard error.isSignedOut, let next = renewed(after: pool) else { throw error }
                return try body(next, true)
            }
        }

        /// Replaces a pool whose connections have lost their authentication; returns `nil` when the
        /// URI has no credentials.
        func renewed(after pool: MongoClientPool) -> MongoClientPool? {
            guard pool.signsIn else { return nil }
            let now = self.pool
            guard now === pool else { return now }
            do throws(MongoFailure) {
                let made = try makePool()
                return current.withLock { current in
                    if current === pool { current = made }
                    return current
                }
            } catch {
                return nil
            }
        }

        func reachability() -> AsyncStream<Bool> { watchers.stream() }

        func close() async {
            await requests.close()
            await waits.close()
            watchers.close()
        }
    }

    extension RemoteError {
        /// Whether the connection is not, or no longer, authenticated; nothing was executed then.
        var isSignedOut: Bool { errorClass == .unauthenticated && [13, 391].contains(code) }
    }

    /// A broadcast of whether a primary is reachable to any number of streams.
    final class MongoReachability: Sendable {
        private struct State {
            var isReachable: Bool?
            var streams: [Int: AsyncStream<Bool>.Continuation] = [:]
            var next = 0
        }

        private let state = Locked(State())

        func note(_ isReachable: Bool) {
            let told = state.withLock { state -> [AsyncStream<Bool>.Continuation] in
                guard state.isReachable != isReachable else { return [] }
                state.isReachable = isReachable
                return Array(state.streams.values)
            }
            for stream in told { stream.yield(isReachable) }
        }

        func stream() -> AsyncStream<Bool> {
            let (stream, continuation) = AsyncStream<Bool>.makeStream(
                bufferingPolicy: .bufferingNewest(1))
            let number = state.withLock { state in
                state.next += 1
                state.streams[state.next] = continuation
                if let known = state.isReachable { continuation.yield(known) }
                return state.next
            }
            continuation.onTermination = { [weak self] _ in
                self?.state.withLock { $0.streams[number] = nil }
            }
            return stream
        }

        func close() {
            let streams = state.withLock { Array($0.streams.values) }
            for stream in streams { stream.finish() }
        }
    }
#endif
