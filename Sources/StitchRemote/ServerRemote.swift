#if Remote
    public import BSONStore
    internal import StitchCommands
    public import StitchSync

    /// A remote on `stitchsync serve` or MongoDB, in Swift.
    ///
    /// ```swift
    /// let remote = try ServerRemote(
    ///     "stitchsync://sync.example.com/?tls=true", signIn: .user("ann", password: password))
    /// let engine = try SyncEngine(store: store, remote: remote)
    /// ```
    ///
    /// Everything that the engine bases decisions on is read from the primary with `majority` and
    /// written with `majority`, so a failover takes back nothing that the engine relies on.
    /// Connections are opened when they are needed. To `stitchsync serve` there are two, one for
    /// requests and one for waits; to MongoDB as many as there are concurrent requests.
    public final class ServerRemote: Remote {
        let connections: ServerConnections
        private let collections: MongoCollections
        /// The database that the URI names, which holds users who register.
        let database: String?

        /// Parses a URI; does not connect yet.
        ///
        /// The URI is `stitchsync://[user:password@]host[:port][,host2…][/database][?options]`, or
        /// the same with `mongodb://`; the port is 27017 unless given. A character that has a
        /// meaning in URIs is written as `%` and its code, for example `%40` for `@`. The options
        /// are `tls`, `tlsCAFile`, `replicaSet`, `directConnection`, `appName`, `authSource`,
        /// `authMechanism`, `connectTimeoutMS`, `socketTimeoutMS`, `serverSelectionTimeoutMS`,
        /// `retryReads`, `retryWrites` and `compressors`. A single host is used as it is; of several, or with
        /// `replicaSet`, the remote looks for the primary.
        ///
        /// - Parameter signIn: how devices sign in; a user in the URI replaces `.none`.
        /// - Throws: `RemoteError` of class `.rejected` that names the invalid part of the URI, or
        ///   the certificates that cannot be read.
        public init(
            _ uri: String, signIn: SignIn = .none, options: Options = Options()
        ) throws(RemoteError) {
            let uri = try ServerURI(uri)
            database = uri.database
            connections = ServerConnections(
                uri.hosts, try ConnectionSettings(uri, signIn, options))
            collections = MongoCollections(server: connections)
        }

        /// Returns a collection of the deployment, without I/O.
        public func collection(_ namespace: Namespace) -> any RemoteCollection {
            collections.collection(namespace)
        }

        /// The files beside documents, which `stitchsync serve` keeps.
        public var attachments: (any RemoteAttachments)? { ServedAttachments(collections) }

        /// Returns the `_id`s of a collection's documents that match a filter, in the order of
        /// `_id`, read in pages.
        ///
        /// Pass them to `sync(ids:)` to sync the result of a query.
        ///
        /// - Throws: `RemoteError`, with MongoDB's code and message for an invalid filter.
        public func ids(
            matching filter: BSONDocument = [:], in namespace: Namespace
        ) async throws(RemoteError) -> [BSONValue] {
            try await collections.collection(namespace).ids(matching: filter)
        }

        /// Whether the primary can be reached, now and after each change.
        ///
        /// The state is unknown before the first request. While the primary cannot be reached and
        /// a task waits for the next value, the remote looks for the primary, with growing pauses.
        public var reachability: AsyncStream<Bool>? { connections.reachability() }

        /// The bytes that all connections have carried so far.
        public var traffic: RemoteTraffic { connections.traffic }

        /// Closes all connections; running and later calls fail.
        public func close() async {
            collections.closeStreams()
            connections.close()
        }
    }
#endif
