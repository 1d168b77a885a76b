#if MongoRemote
    public import BSONStore
    public import StitchSync

    /// Is a remote at a MongoDB server, a replica set or a sharded cluster, through libmongoc.
    ///
    /// Everything that the engine decides on is read from the primary with `majority`, and written with
    /// `majority` (rule R14). libmongoc blocks, so its calls run on threads of the remote's own; a
    /// cancelled call is left behind at once and ends by itself.
    ///
    /// Source: Docs/MONGODB.md, which says which rights and indexes are wanted.
    public final class MongoRemote: Remote {
        /// Bounds of connections and times.
        public struct Options: Sendable, Hashable {
            /// How the application is named in the server's log, unless the URI says (`appName`).
            public var applicationName = "StitchSync"
            /// Requests at once, over all collections; at least 1.
            public var requestsMax = 8
            /// Collections whose history is followed at once; more take turns.
            ///
            /// At least 1.
            public var followersMax = 8
            /// Whether a batch goes as one `bulkWrite` command, which MongoDB has from 8.0 on.
            ///
            /// `nil` leaves it to the version that the server tells.
            public var usesBulkWrite: Bool?
            /// How long a primary is looked for, unless the URI says (`serverSelectionTimeoutMS`).
            public var serverSelectionTimeout: Duration = .seconds(5)
            /// How long an answer may take, unless the URI says (`socketTimeoutMS`).
            public var socketTimeout: Duration = .seconds(30)

            /// The bounds that are used unless told.
            public init() {}
        }

        let connection: MongoConnection
        private let collections = Locked<[Namespace: MongoCollection]>([:])

        /// Reads a `mongodb://` or `mongodb+srv://` URI; no connection is made here.
        ///
        /// TLS, the way of signing in and timeouts are options of the URI.
        ///
        /// - Throws: `RemoteError` of class `.rejected` that says what is wrong with the URI.
        public init(uri: String, options: Options = Options()) throws(RemoteError) {
            connection = try MongoConnection(uri: uri, options: options)
        }

        /// One collection of the deployment.
        public func collection(_ namespace: Namespace) -> any RemoteCollection {
            mongoCollection(namespace)
        }

        private func mongoCollection(_ namespace: Namespace) -> MongoCollection {
            collections.withLock { collections in
                if let known = collections[namespace] { return known }
                let made = MongoCollection(connection: connection, namespace: namespace)
                collections[namespace] = made
                return made
            }
        }

        /// Returns the `_id`s of a collection's documents that a filter matches, in the order of
        /// `_id`, by pages.
        ///
        /// For keeping in step what a query finds: `sync(ids:)` takes them.
        ///
        /// - Throws: `RemoteError`, with MongoDB's code and words for a filter that is none.
        public func ids(
            matching filter: BSONDocument = [:], in namespace: Namespace
        ) async throws(RemoteError) -> [BSONValue] {
            try await mongoCollection(namespace).ids(matching: filter)
        }

        /// Whether a primary can be reached, now and after each change.
        ///
        /// libmongoc's own monitoring tells; nothing is known before the first request.
        public var reachability: AsyncStream<Bool>? { connection.reachability() }

        /// Ends all connections and threads; waits for the calls that run.
        ///
        /// What is called later fails.
        public func close() async {
            let all = collections.withLock { Array($0.values) }
            await connection.close()
            for collection in all { collection.closeStreams() }
        }
    }
#endif
