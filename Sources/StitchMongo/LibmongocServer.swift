#if MongoRemote
    internal import BSONStore
    internal import StitchCommands
    internal import StitchSync

    /// A deployment that libmongoc talks to, on threads of the remote's own.
    final class LibmongocServer: MongoServer {
        private struct Current {
            /// The clients; earlier pools close once they are unused.
            var pool: MongoClientPool
            var signIn = 1
        }

        private let current: Locked<Current>
        private let makePool: @Sendable () throws(MongoFailure) -> MongoClientPool
        private let threads: LibmongocThreads
        let usesBulkWrite: Bool?
        private let watchers: MongoReachability

        /// Whether no part of a URI can be a password, however it was mistyped.
        static func hasNoPassword(_ uri: String) -> Bool {
            guard !uri.contains("@"), let scheme = uri.firstRange(of: "://") else { return false }
            let hosts = uri[scheme.upperBound...].prefix { !"/?".contains($0) }
            return hosts.split(separator: ",").allSatisfy { host in
                guard let colon = host.lastIndex(of: ":") else { return true }
                return host[host.index(after: colon)...].allSatisfy(\.isNumber)
            }
        }

        init(uri: String, options: MongoRemote.Options) throws(RemoteError) {
            let watchers = MongoReachability()
            let make = { @Sendable () throws(MongoFailure) -> MongoClientPool in
                try MongoClientPool(
                    uri: uri,
                    settings: .init(
                        applicationName: options.applicationName,
                        serverSelectionTimeout: options.serverSelectionTimeout,
                        socketTimeout: options.socketTimeout,
                        // For requests, and for the streams that collections keep open.
                        clients: .undivided(10_000)),
                    onTopologyChange: { watchers.note($0) })
            }
            makePool = make
            do throws(MongoFailure) {
                current = Locked(Current(pool: try make()))
            } catch {
                // libmongoc's error repeats parts of the URI, which may be those of a password.
                throw RemoteError(
                    .rejected,
                    Self.hasNoPassword(uri)
                        ? "the URI cannot be used: \(error.message)"
                        : "the URI cannot be used; check its scheme, hosts and options, and that "
                            + "special characters of its password are written as %XX")
            }
            self.watchers = watchers
            usesBulkWrite = options.usesBulkWrite
            threads = LibmongocThreads(
                requests: MongoThreads(threadsMax: options.requestsMax),
                waits: MongoThreads(threadsMax: options.followersMax))
        }

        private var pool: MongoClientPool { current.withLock { $0.pool } }

        func run(
            _ request: MongoRequest, on database: String, _ kind: MongoCommandKind
        ) async throws(MongoFailure) -> BSONDocument {
            let command = request.document
            return try await self.request { (client) throws(MongoFailure) in
                try client.run(command, on: database, kind)
            }
        }

        func startSession() async throws(MongoFailure) -> any MongoSession {
            LibmongocSession(pool: pool, threads: threads)
        }

        func takesBulkWrite() async throws(MongoFailure) -> Bool {
            try await request { (client) throws(MongoFailure) in
                try client.takesBulkWrite()
            }
        }

        func knows(_ part: ServerExtension) async throws(MongoFailure) -> Bool {
            try await request { (client) throws(MongoFailure) in
                try client.knows(part)
            }
        }

        /// Runs a body with a client on a thread for requests.
        private func request<R: Sendable>(
            _ body: @escaping @Sendable (MongoClient) throws(MongoFailure) -> R
        ) async throws(MongoFailure) -> R {
            let pool = pool
            return try await threads.requests.run { () throws(MongoFailure) in
                try pool.withClient(body)
            }
        }

        /// A wait that its caller has left occupies its thread until it ends.
        var waitMax: Duration {
            threads.waits.waitingCount > 0 ? .milliseconds(100) : .seconds(1)
        }

        var signIn: Int { current.withLock { $0.signIn } }

        func renew(after signIn: Int) async -> Bool {
            let now = current.withLock { $0 }
            guard now.pool.signsIn else { return false }
            guard now.signIn == signIn else { return true }
            let makePool = makePool
            do throws(MongoFailure) {
                // With `mongodb+srv` the pool asks for the servers' names, which blocks.
                let made = try await threads.requests.run { () throws(MongoFailure) in
                    try makePool()
                }
                current.withLock { current in
                    if current.signIn == signIn {
                        current = Current(pool: made, signIn: signIn + 1)
                    }
                }
                return true
            } catch {
                return false
            }
        }

        func reachability() -> AsyncStream<Bool> { watchers.stream() }

        /// Accepts no more calls and returns once the running ones have ended.
        func close() async {
            await threads.requests.close()
            await threads.waits.close()
            watchers.close()
        }
    }
#endif
