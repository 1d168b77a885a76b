#if MongoRemote
    internal import BSONStore
    internal import StitchSync

    /// Holds what all collections of a remote share: clients, threads, and whether a primary is there.
    final class MongoConnection: Sendable {
        /// The clients that are lent now; those before go once nobody uses them.
        var pool: MongoClientPool { current.withLock { $0 } }
        private let current: Locked<MongoClientPool>
        private let makePool: @Sendable () throws(MongoFailure) -> MongoClientPool
        /// Runs requests.
        let requests: MongoThreads
        /// Runs the waits for changes, which must not hold up requests.
        let waits: MongoThreads
        /// Whether batches go as `bulkWrite`; `nil` asks the server's version.
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
                        // Requests, and the streams that collections keep open in between.
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

        /// Runs a body with a client on a thread of its own.
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

        /// Runs a body; once more over new connections where the server says that nobody is signed in
        /// on those that there are.
        ///
        /// So it is after the user was dropped, also when it was made again: a connection signs in once.
        ///
        /// - Parameter body: gets the clients, and whether they are new.
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

        /// New clients in place of some, whose connections are signed out; `nil` where the URI names
        /// nobody who could sign in.
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
        /// The server knows nobody on the connection, or no longer: nothing was carried out.
        var isSignedOut: Bool { errorClass == .unauthenticated && [13, 391].contains(code) }
    }

    /// Passes on whether a primary is there, to any number of streams.
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
