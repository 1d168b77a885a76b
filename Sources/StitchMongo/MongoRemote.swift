#if MongoRemote
    public import BSONStore
    internal import StitchCommands
    public import StitchSync

    /// A remote on a MongoDB server, replica set or sharded cluster, through libmongoc.
    ///
    /// Everything that the engine bases decisions on is read from the primary with `majority` and
    /// written with `majority`, so a failover takes back nothing that the engine relies on.
    /// libmongoc blocks, so its calls run on threads of the remote's own; a cancelled call is
    /// abandoned at once and ends in the background.
    ///
    /// Source: Docs/MONGODB.md, which lists the required privileges and indexes.
    public final class MongoRemote: Remote {
        /// The limits of connections and times.
        public struct Options: Sendable, Hashable {
            /// The application's name in the server's log, unless the URI has one (`appName`).
            public var applicationName = "StitchSync"
            /// The largest number of concurrent requests over all collections; at least 1.
            public var requestsMax = 8
            /// The largest number of collections followed concurrently; others take turns.
            ///
            /// At least 1.
            public var followersMax = 8
            /// Whether a batch is sent as one `bulkWrite` command, which needs MongoDB 8.0.
            ///
            /// `nil` does so for writes of several kinds, if the server's version allows it.
            public var usesBulkWrite: Bool?
            /// The longest search for a primary, unless the URI has one
            /// (`serverSelectionTimeoutMS`).
            public var serverSelectionTimeout: Duration = .seconds(5)
            /// The longest wait for an answer, unless the URI has one (`socketTimeoutMS`).
            public var socketTimeout: Duration = .seconds(30)

            /// Makes options with their defaults.
            public init() {}
        }

        private let server: LibmongocServer
        private let collections: MongoCollections

        /// Parses a `mongodb://` or `mongodb+srv://` URI; does not connect yet.
        ///
        /// TLS, authentication and timeouts are options of the URI.
        ///
        /// - Throws: `RemoteError` of class `.rejected` that describes the error in the URI.
        public init(uri: String, options: Options = Options()) throws(RemoteError) {
            server = try LibmongocServer(uri: uri, options: options)
            collections = MongoCollections(server: server)
        }

        /// Returns a collection of the deployment.
        public func collection(_ namespace: Namespace) -> any RemoteCollection {
            collections.collection(namespace)
        }

        /// The files beside documents, in GridFS's bucket `attachments` of their database.
        public var attachments: (any RemoteAttachments)? { MongoAttachments(collections) }

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

        /// Whether a primary is reachable, now and after each change.
        ///
        /// The state is that of libmongoc's monitoring and unknown before the first request.
        public var reachability: AsyncStream<Bool>? { server.reachability() }

        /// Closes all connections and threads; waits for running calls.
        ///
        /// Later calls fail.
        public func close() async {
            collections.closeStreams()
            await server.close()
        }
    }
#endif
