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
    /// written with `majority` (rule R14). Connections are opened when they are needed. To
    /// `stitchsync serve` there are two, one for requests and one for waits; to MongoDB as many as
    /// there are concurrent requests.
    public final class ServerRemote: Sendable {
        let connections: ServerConnections

        /// Parses a URI; does not connect yet.
        ///
        /// The URI is `stitchsync://[user:password@]host[:port][,host2…][/database][?options]`, or
        /// the same with `mongodb://`; the port is 27017 unless given. A character that has a
        /// meaning in URIs is written as `%` and its code, for example `%40` for `@`. The options
        /// are `tls`, `tlsCAFile`, `replicaSet`, `directConnection`, `appName`, `authSource`,
        /// `authMechanism`, `connectTimeoutMS`, `socketTimeoutMS`, `serverSelectionTimeoutMS`,
        /// `retryReads` and `retryWrites`. A single host is used as it is; of several, or with
        /// `replicaSet`, the remote looks for the primary.
        ///
        /// - Parameter signIn: how devices sign in; a user in the URI replaces `.none`.
        /// - Throws: `RemoteError` of class `.rejected` that names the invalid part of the URI, or
        ///   the certificates that cannot be read.
        public init(
            _ uri: String, signIn: SignIn = .none, options: Options = Options()
        ) throws(RemoteError) {
            let uri = try ServerURI(uri)
            connections = ServerConnections(
                uri.hosts, try ConnectionSettings(uri, signIn, options))
        }

        /// Whether the primary can be reached, now and after each change.
        ///
        /// The state is unknown before the first request. While the primary cannot be reached and
        /// a task waits for the next value, the remote looks for the primary, with growing pauses.
        public var reachability: AsyncStream<Bool>? { connections.reachability() }

        /// Closes all connections; running and later calls fail.
        public func close() async { connections.close() }
    }
#endif
