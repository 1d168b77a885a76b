#if MongoRemote
    package import BSONStore
    package import StitchCommands

    /// A MongoDB deployment for a program that has threads for blocking calls, such as a gateway.
    ///
    /// Any thread may call.
    package final class BlockingDeployment: Sendable {
        private let pool: MongoClientPool

        /// Parses a `mongodb://` or `mongodb+srv://` URI; does not connect yet.
        ///
        /// - Parameter clientsMax: the largest number of calls and sessions at a time; others wait.
        /// - Throws: libmongoc's error in the URI, whose message may repeat parts of it.
        package init(uri: String, applicationName: String, clientsMax: Int) throws(MongoFailure) {
            pool = try MongoClientPool(
                uri: uri,
                settings: .init(
                    applicationName: applicationName, serverSelectionTimeout: .seconds(5),
                    socketTimeout: .seconds(60), clientsMax: clientsMax),
                onTopologyChange: { _ in })
        }

        /// Sends a command to the primary and returns its reply; repeats it as drivers do.
        ///
        /// - Throws: ``MongoFailure`` without a reply or when its `ok` is not 1.
        package func run(
            _ command: BSONDocument, on database: String, _ kind: MongoCommandKind
        ) throws(MongoFailure) -> BSONDocument {
            try pool.withClient { (client) throws(MongoFailure) in
                try client.run(command, on: database, kind)
            }
        }

        /// Takes a connection with a session of its own.
        ///
        /// - Throws: ``MongoFailure`` when no primary can be reached.
        package func openSession() throws(MongoFailure) -> BlockingSession {
            let client = try pool.client()
            do throws(MongoFailure) {
                return BlockingSession(client, try client.session(), pool)
            } catch {
                pool.giveBack(client)
                throw error
            }
        }
    }

    /// A session of a deployment, for one thread at a time.
    package final class BlockingSession: Sendable {
        private let client: MongoClient
        private let session: MongoClientSession
        private let pool: MongoClientPool
        private let isOpen = Locked(true)

        init(_ client: MongoClient, _ session: MongoClientSession, _ pool: MongoClientPool) {
            self.client = client
            self.session = session
            self.pool = pool
        }

        deinit { end() }

        /// Sends a command, in the open transaction if there is one; never repeats it.
        ///
        /// - Throws: ``MongoFailure`` without a reply or when its `ok` is not 1.
        package func run(
            _ command: BSONDocument, on database: String
        ) throws(MongoFailure) -> BSONDocument {
            try client.run(command, on: database, in: session)
        }

        /// Begins a transaction: the next command starts it.
        ///
        /// - Parameter readsNewest: `true` for a short transaction: it reads the newest state, also what no
        ///   majority has acknowledged, and waits for its commit for at most 10 seconds.
        package func startTransaction(readsNewest: Bool) throws(MongoFailure) {
            try session.startTransaction(readsNewest: readsNewest)
        }

        /// Commits the open transaction.
        package func commitTransaction() throws(MongoFailure) { try session.commitTransaction() }

        /// Reverts the open transaction.
        package func abortTransaction() { session.abortTransaction() }

        /// Returns the connection; the session must not be used afterwards.
        package func end() {
            let wasOpen = isOpen.withLock { isOpen in
                defer { isOpen = false }
                return isOpen
            }
            guard wasOpen else { return }
            session.end()
            pool.giveBack(client)
        }
    }
#endif
