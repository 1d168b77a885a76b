#if MongoRemote
    internal import BSONStore
    internal import StitchCommands

    /// A session of a client of libmongoc, which it occupies from its first command on.
    ///
    /// One thread at a time uses the client. After an abandoned command the thread itself ends the
    /// session.
    final class LibmongocSession: MongoSession {
        private enum State {
            /// No command was sent yet.
            case new
            /// The client waits for the next command.
            case ready(PinnedClient)
            /// A thread uses the client.
            case running
            /// The session ended while a thread uses the client; the cursor is to be killed.
            case leaving(MongoCursorID?)
            case ended
        }

        private let pool: MongoClientPool
        private let threads: LibmongocThreads
        private let state = Locked(State.new)

        init(pool: MongoClientPool, threads: LibmongocThreads) {
            self.pool = pool
            self.threads = threads
        }

        deinit { end(killing: nil) }

        func run(
            _ command: BSONDocument, on database: String, waits: Bool
        ) async throws(MongoFailure) -> BSONDocument {
            try await withClient(waits: waits) { (client) throws(MongoFailure) in
                try client.run(command, on: database)
            }
        }

        func startTransaction() async throws(MongoFailure) {
            try await withClient { (client) throws(MongoFailure) in try client.startTransaction() }
        }

        func commitTransaction() async throws(MongoFailure) {
            try await withClient { (client) throws(MongoFailure) in try client.commitTransaction() }
        }

        func abortTransaction() async {
            do throws(MongoFailure) {
                try await withClient { (client) throws(MongoFailure) in client.abortTransaction() }
            } catch {
                // The server reverts a transaction that it is not asked to revert.
            }
        }

        /// Runs a body with the session's client on a thread of its own.
        private func withClient<R: Sendable>(
            waits: Bool = false,
            _ body: @escaping @Sendable (PinnedClient) throws(MongoFailure) -> R
        ) async throws(MongoFailure) -> R {
            try await (waits ? threads.waits : threads.requests).run { () throws(MongoFailure) in
                let client = try self.take()
                do throws(MongoFailure) {
                    let result = try body(client)
                    self.giveBack(client, isBroken: false)
                    return result
                } catch {
                    self.giveBack(client, isBroken: error.kind == .network)
                    throw error
                }
            }
        }

        /// Takes the client for a command on this thread.
        private func take() throws(MongoFailure) -> PinnedClient {
            let before = state.withLock { state in
                let before = state
                switch before {
                case .new, .ready: state = .running
                case .running, .leaving, .ended: break
                }
                return before
            }
            switch before {
            case .ready(let client): return client
            case .new:
                do throws(MongoFailure) {
                    return try PinnedClient(from: pool)
                } catch {
                    state.withLock { $0 = .ended }
                    throw error
                }
            case .running, .leaving, .ended:
                throw MongoFailure(kind: .usage, message: "the session has ended")
            }
        }

        /// Ends the session if that was asked for during the command, or if the connection broke.
        private func giveBack(_ client: PinnedClient, isBroken: Bool) {
            let end = state.withLock { state -> (cursor: MongoCursorID?, isDue: Bool) in
                if case .leaving(let cursor) = state {
                    state = .ended
                    return (cursor, true)
                }
                state = isBroken ? .ended : .ready(client)
                return (nil, isBroken)
            }
            guard end.isDue else { return }
            client.end(killing: isBroken ? nil : end.cursor)
        }

        func end(killing cursor: MongoCursorID?) {
            let ready = state.withLock { state -> PinnedClient? in
                switch state {
                case .ready(let client):
                    state = .ended
                    return client
                case .new: state = .ended
                case .running: state = .leaving(cursor)
                case .leaving, .ended: break
                }
                return nil
            }
            guard let ready else { return }
            guard let cursor, threads.requests.add({ ready.end(killing: cursor) }) else {
                ready.end(killing: nil)
                return
            }
        }
    }

    /// A client with a session, taken from its pool.
    private struct PinnedClient: Sendable {
        private let pool: MongoClientPool
        private let client: MongoClient
        private let session: MongoClientSession

        init(from pool: MongoClientPool) throws(MongoFailure) {
            self.pool = pool
            client = try pool.client()
            do throws(MongoFailure) {
                session = try client.session()
            } catch {
                pool.giveBack(client)
                throw error
            }
        }

        func run(
            _ command: BSONDocument, on database: String
        ) throws(MongoFailure) -> BSONDocument {
            try client.run(command, on: database, in: session)
        }

        func startTransaction() throws(MongoFailure) {
            try session.startTransaction(readsNewest: true)
        }

        func commitTransaction() throws(MongoFailure) { try session.commitTransaction() }

        func abortTransaction() { session.abortTransaction() }

        /// Returns the client to its pool, after an attempt to close a cursor.
        func end(killing cursor: MongoCursorID?) {
            if let cursor {
                // The server times out a cursor that it is not asked to close.
                _ = Result { () throws(MongoFailure) in
                    try run(cursor.kill, on: cursor.namespace.database)
                }
            }
            session.end()
            pool.giveBack(client)
        }
    }
#endif
