#if MongoRemote
    package import BSONStore
    package import StitchCommands

    /// A MongoDB deployment for a program that has threads for blocking calls, such as a gateway.
    ///
    /// Any thread may call. Each command has a session of its own, so that a request to end the
    /// session ends only this command, once its answer is not needed any more.
    package final class BlockingDeployment: Sendable {
        private let pool: MongoClientPool
        private let killer: CommandKiller

        /// Parses a `mongodb://` or `mongodb+srv://` URI; does not connect yet.
        ///
        /// - Parameter clientsMax: the largest number of calls and sessions at a time; others wait.
        /// - Throws: libmongoc's error in the URI, whose message may repeat parts of it.
        package init(uri: String, applicationName: String, clientsMax: Int) throws(MongoFailure) {
            let pool = try MongoClientPool(
                uri: uri,
                settings: .init(
                    applicationName: applicationName, serverSelectionTimeout: .seconds(5),
                    socketTimeout: .seconds(60), clients: .divided(clientsMax)),
                onTopologyChange: { _ in })
            self.pool = pool
            killer = CommandKiller { sessions in
                let names = sessions.map(BSONValue.document)
                // What still runs is named again.
                _ = Result { () throws(MongoFailure) in
                    try pool.withClient { (client) throws(MongoFailure) in
                        try client.run(
                            ["killSessions": .array(BSONArray(names))], on: "admin", .read)
                    }
                }
            }
        }

        /// Sends a command to the primary and returns its reply; repeats a read as drivers do.
        ///
        /// - Throws: ``MongoFailure`` without a reply or when its `ok` is not 1.
        package func run(
            _ command: BSONDocument, on database: String, _ kind: MongoCommandKind,
            for caller: MongoCaller
        ) throws(MongoFailure) -> BSONDocument {
            try pool.withClient(for: caller) { (client) throws(MongoFailure) in
                // Nothing has to name the command of a caller that nothing interrupts.
                guard caller.budget != nil else {
                    return try client.run(command, on: database, kind)
                }
                // Any server's number: the session is for the primary at the time of the command.
                let session = try client.session(on: 0)
                defer { session.end() }
                return try run(command, on: database, kind, client, session, nil, caller)
            }
        }

        /// Returns a place for a cursor at the primary; it holds no connection.
        ///
        /// - Throws: ``MongoFailure`` when no primary can be reached.
        package func place(for caller: MongoCaller) throws(MongoFailure) -> MongoPlace {
            let serverID = try pool.withClient(for: caller) { (client) throws(MongoFailure) in
                try client.primaryID()
            }
            return MongoPlace(session: MongoClientSession.newUUID(), serverID: serverID)
        }

        /// Sends a command to a place, whose session it names; never repeats it.
        ///
        /// - Throws: ``MongoFailure`` without a reply or when its `ok` is not 1.
        package func run(
            _ command: BSONDocument, on database: String, at place: MongoPlace,
            for caller: MongoCaller
        ) throws(MongoFailure) -> BSONDocument {
            try pool.withClient(for: caller) { (client) throws(MongoFailure) in
                let session = try client.session(on: place.serverID)
                defer { session.end() }
                let own = try session.uuid
                try session.become(place.session)
                let result = Result { () throws(MongoFailure) in
                    try run(
                        command, on: database, .read, client, session, place.serverID, caller)
                }
                try session.become(own)
                return try result.get()
            }
        }

        private func run(
            _ command: BSONDocument, on database: String, _ kind: MongoCommandKind,
            _ client: MongoClient, _ session: MongoClientSession, _ serverID: UInt32?,
            _ caller: MongoCaller
        ) throws(MongoFailure) -> BSONDocument {
            do throws(MongoFailure) {
                return try killer.running(session, caller.budget) { () throws(MongoFailure) in
                    try client.run(command, on: database, kind, in: session, serverID: serverID)
                }
            } catch {
                // An index is built on for who asks again.
                if error.kind == .network, command.keys.first != "createIndexes" {
                    killer.endLost(session.id)
                    try session.renew()
                }
                throw error
            }
        }

        /// Takes a connection with a session of its own.
        ///
        /// - Throws: ``MongoFailure`` when no primary can be reached.
        package func openSession(for caller: MongoCaller) throws(MongoFailure) -> BlockingSession {
            let client = try pool.client(for: caller)
            do throws(MongoFailure) {
                return BlockingSession(client, try client.session(), pool, killer)
            } catch {
                pool.giveBack(client)
                throw error
            }
        }
    }

    extension CommandKiller {
        /// Runs a body that sends commands of a session.
        ///
        /// If the server was asked to end them, the session is then replaced by a new one, because the
        /// request may arrive late.
        fileprivate func running<R>(
            _ session: MongoClientSession, _ budget: WorkBudget?,
            _ body: () throws(MongoFailure) -> R
        ) throws(MongoFailure) -> R {
            var isKilled = false
            let result = Result { () throws(MongoFailure) in
                try running(session.id, budget, didKill: { isKilled = true }, body)
            }
            if isKilled { try session.renew() }
            return try result.get()
        }
    }

    /// A cursor's server, and the session by which its commands find it.
    package struct MongoPlace: Sendable, Hashable {
        /// The UUID of the session.
        let session: [UInt8]
        /// The number of the server.
        package let serverID: UInt32
    }

    /// A session of a deployment, for one thread at a time.
    package final class BlockingSession: Sendable {
        private let client: MongoClient
        private let session: MongoClientSession
        private let pool: MongoClientPool
        private let killer: CommandKiller
        private let isOpen = Locked(true)

        init(
            _ client: MongoClient, _ session: MongoClientSession, _ pool: MongoClientPool,
            _ killer: CommandKiller
        ) {
            self.client = client
            self.session = session
            self.pool = pool
            self.killer = killer
        }

        deinit { end() }

        /// Sends a command, in the open transaction if there is one; never repeats it.
        ///
        /// - Throws: ``MongoFailure`` without a reply or when its `ok` is not 1.
        package func run(
            _ command: BSONDocument, on database: String, for caller: MongoCaller
        ) throws(MongoFailure) -> BSONDocument {
            try killer.running(session, caller.budget) { () throws(MongoFailure) in
                try client.run(command, on: database, in: session)
            }
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
