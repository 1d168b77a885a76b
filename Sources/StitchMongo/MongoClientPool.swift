#if MongoRemote
    internal import BSONStore
    internal import StitchCommands
    internal import StitchMongoC

    /// A pool of libmongoc's clients for one URI, which share their knowledge of the servers.
    ///
    /// Only this file and `MongoClient.swift` use libmongoc. Any thread may use the pool; only one
    /// at a time may use a client.
    final class MongoClientPool: @unchecked Sendable {
        /// The application's name and limits, which the URI may override.
        struct Settings: Sendable {
            var applicationName: String
            var serverSelectionTimeout: Duration
            var socketTimeout: Duration
            /// The numbers of clients, for all and for one user.
            var clients: ClientShares.Bounds
        }

        private let pool: OpaquePointer
        private let listener: Unmanaged<MongoTopologyListener>
        private let shares: ClientShares
        /// The database in the URI.
        let database: String?
        /// Whether the URI has credentials.
        let signsIn: Bool

        /// The one-time initialization of libmongoc, never undone because other code in the process
        /// may use it.
        private static let isPrepared: Bool = {
            mongoc_init()
            // By default libmongoc prints warnings; here errors are thrown.
            mongoc_log_set_handler(nil, nil)
            return true
        }()

        /// Parses the URI and prepares the pool; does not connect yet.
        ///
        /// - Throws: libmongoc's error in the URI.
        init(
            uri text: String, settings: Settings,
            onTopologyChange: @escaping @Sendable (Bool) -> Void
        ) throws(MongoFailure) {
            precondition(Self.isPrepared)
            var error = bson_error_t()
            guard let uri = mongoc_uri_new_with_error(text, &error) else {
                throw MongoFailure(error, reply: nil)
            }
            defer { mongoc_uri_destroy(uri) }
            Self.setDefaults(settings, of: uri)
            database = mongoc_uri_get_database(uri).map { String(cString: $0) }
            signsIn =
                mongoc_uri_get_username(uri) != nil || mongoc_uri_get_auth_mechanism(uri) != nil
            guard let pool = mongoc_client_pool_new_with_error(uri, &error) else {
                throw MongoFailure(error, reply: nil)
            }
            self.pool = pool
            listener = Unmanaged.passRetained(MongoTopologyListener(onTopologyChange))
            mongoc_client_pool_set_error_api(pool, 2)
            shares = ClientShares(settings.clients)
            mongoc_client_pool_max_size(pool, UInt32(clamping: settings.clients.all))
            if let callbacks = mongoc_apm_callbacks_new() {
                mongoc_apm_set_topology_changed_cb(callbacks, topologyChanged)
                mongoc_client_pool_set_apm_callbacks(pool, callbacks, listener.toOpaque())
                mongoc_apm_callbacks_destroy(callbacks)
            }
        }

        /// Waits for libmongoc's own threads, each of which may wait for a silent server.
        ///
        /// The wait has a thread of its own, since a task may release the last reference.
        deinit {
            let end = MongoPoolCloser(pool: pool, listener: listener)
            if !DetachedThread.start({ end.run() }) { end.run() }
        }

        private static func setDefaults(_ settings: Settings, of uri: OpaquePointer) {
            if mongoc_uri_get_appname(uri) == nil {
                mongoc_uri_set_appname(uri, settings.applicationName)
            }
            for (option, limit) in [
                ("serverselectiontimeoutms", settings.serverSelectionTimeout),
                ("sockettimeoutms", settings.socketTimeout),
            ] where !mongoc_uri_has_option(uri, option) {
                mongoc_uri_set_option_as_int32(uri, option, Int32(clamping: limit.milliseconds))
            }
            if !mongoc_uri_has_option(uri, "retrywrites") {
                mongoc_uri_set_option_as_bool(uri, "retrywrites", true)
            }
        }

        /// Takes a client; waits while none is free for the caller.
        ///
        /// - Throws: a failure of kind `.busy` when none became free in time.
        func client(for caller: MongoCaller = .own) throws(MongoFailure) -> MongoClient {
            try shares.take(for: caller)
            // Those that were taken are fewer than the pool has.
            guard let handle = mongoc_client_pool_try_pop(pool) else {
                shares.giveBack(of: caller.user)
                throw MongoFailure(kind: .busy, message: "all connections are in use")
            }
            return MongoClient(handle: handle, user: caller.user)
        }

        /// Returns a client to the pool.
        func giveBack(_ client: MongoClient) {
            mongoc_client_pool_push(pool, client.handle)
            shares.giveBack(of: client.user)
        }

        /// Calls a body with a client.
        func withClient<R>(
            for caller: MongoCaller = .own, _ body: (MongoClient) throws(MongoFailure) -> R
        ) throws(MongoFailure) -> R {
            let client = try client(for: caller)
            defer { giveBack(client) }
            return try body(client)
        }
    }

    /// The closing of an unused pool.
    private struct MongoPoolCloser: @unchecked Sendable {
        let pool: OpaquePointer
        let listener: Unmanaged<MongoTopologyListener>

        func run() {
            mongoc_client_pool_destroy(pool)
            listener.release()
        }
    }

    /// A box that passes a closure through libmongoc's callback.
    final class MongoTopologyListener: Sendable {
        let report: @Sendable (Bool) -> Void

        init(_ report: @escaping @Sendable (Bool) -> Void) { self.report = report }
    }

    /// Reports whether there is a primary now.
    private func topologyChanged(_ event: OpaquePointer?) {
        guard let event, let context = mongoc_apm_topology_changed_get_context(event),
            let description = mongoc_apm_topology_changed_get_new_description(event)
        else { return }
        let listener = Unmanaged<MongoTopologyListener>.fromOpaque(context).takeUnretainedValue()
        listener.report(
            mongoc_topology_description_has_writable_server(description))
    }
#endif
