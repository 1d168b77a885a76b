#if Remote
    internal import BSONStore

    extension ServerRemote {
        /// The limits of connections and times, and whom to trust.
        ///
        /// ```swift
        /// var options = ServerRemote.Options()
        /// options.trustedRoots = [pem]
        /// ```
        public struct Options: Sendable, Hashable {
            /// The application's name in the server's log, unless the URI has one (`appName`); at
            /// most 128 bytes of it are sent.
            public var applicationName = "StitchSync"
            /// The application's version, which operators of the server see next to its name; at most
            /// 64 bytes of it are sent.
            public var applicationVersion: String?
            /// The longest search for a primary, unless the URI has one
            /// (`serverSelectionTimeoutMS`).
            public var serverSelectionTimeout: Duration = .seconds(5)
            /// The longest time to connect to a host, unless the URI has one (`connectTimeoutMS`).
            public var connectTimeout: Duration = .seconds(10)
            /// The longest wait for an answer, unless the URI has one (`socketTimeoutMS`).
            public var socketTimeout: Duration = .seconds(30)
            /// The largest number of concurrent requests over all collections; at least 1.
            public var requestsMax = 8
            /// The largest number of collections that wait for changes concurrently; others take
            /// turns.
            ///
            /// At least 1.
            public var followersMax = 8
            /// Whether a batch is sent as one `bulkWrite` command, which needs MongoDB 8.0.
            ///
            /// `nil` does so for writes of several kinds, if the server's version allows it.
            public var usesBulkWrite: Bool?
            /// When connections compress requests and replies, unless the URI says so
            /// (`compressors`).
            ///
            /// Messages of the sign-in and those with a password are never compressed.
            public var compression = RemoteCompression.automatic
            /// The root certificates to trust instead of the system's, each a text in the form PEM.
            ///
            /// They need `tls=true` in the URI.
            public var trustedRoots: [String] = []

            /// Makes options with their defaults.
            public init() {}
        }
    }
#endif
