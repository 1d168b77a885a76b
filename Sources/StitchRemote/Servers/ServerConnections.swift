#if Remote
    internal import BSONStore
    internal import StitchCommands
    internal import StitchSync

    /// A deployment behind connections of our own, which carries MongoDB's commands.
    final class ServerConnections: MongoServer {
        private let hosts: [ServerAddress]
        private let settings: ConnectionSettings
        private let topology: ServerTopology
        private let sessions = SessionPool()
        private let listeners = Reachability()
        private let requests: Gate
        private let followers: Gate

        /// The size of requests under way, in bytes; more wait for their turn.
        private static let bytesMax = 64_000_000

        init(_ hosts: [ServerAddress], _ settings: ConnectionSettings) {
            self.hosts = hosts
            self.settings = settings
            topology = ServerTopology(hosts, settings, listeners)
            requests = Gate(countMax: settings.requestsMax, bytesMax: Self.bytesMax)
            followers = Gate(countMax: settings.followersMax)
        }

        func run(
            _ request: MongoRequest, on database: String, _ kind: MongoCommandKind
        ) async throws(MongoFailure) -> BSONDocument {
            try await requests.pass(bytes: request.byteCount) { () async throws(MongoFailure) in
                let body = request.body.on(database)
                return try await repeated(MongoRequest(body, list: request.list), kind)
            }
        }

        func startSession() async throws(MongoFailure) -> any MongoSession {
            ServerSession(try await topology.primary(), self)
        }

        var usesBulkWrite: Bool? { settings.usesBulkWrite }

        func takesBulkWrite() async throws(MongoFailure) -> Bool {
            try await requests.pass { () async throws(MongoFailure) in
                try await topology.primary().with(.request) { (line) throws(MongoFailure) in
                    line.description.wireVersion >= 25
                }
            }
        }

        func knows(_ part: ServerExtension) async throws(MongoFailure) -> Bool {
            try await requests.pass { () async throws(MongoFailure) in
                try await topology.primary().with(.request) { (line) throws(MongoFailure) in
                    line.description.extensions.contains(part)
                }
            }
        }

        /// The longest wait at the server in one command; shorter while others queue.
        var waitMax: Duration { followers.waitingCount > 0 ? .milliseconds(100) : .seconds(1) }

        var connectionCount: UInt64? { topology.connectionCount.withLock { $0 } }

        var signIn: Int { topology.signIn }

        func renew(after signIn: Int) -> Bool {
            guard settings.credentials.current.handshake.signsIn else { return false }
            topology.renew(after: signIn)
            return true
        }

        /// The bytes of all connections so far.
        var traffic: RemoteTraffic { settings.traffic.current }

        /// Whether connections are encrypted.
        var isEncrypted: Bool { settings.security != nil }

        /// Whether no one else on the network can read what is sent.
        var isSecret: Bool { ConnectionSettings.isSecret(hosts, isEncrypted) }

        /// Signs in by other credentials from now on, on new connections.
        func use(_ signIn: SignIn) {
            settings.credentials.use(signIn)
            topology.renew(after: self.signIn)
        }

        /// Names the device to the server; connections that gave another name, or none, are
        /// replaced.
        func introduce(
            _ device: DeviceIdentity, _ backlog: @escaping @Sendable () -> DeviceBacklog?
        ) {
            if settings.credentials.introduce(device, backlog) {
                topology.renew(after: signIn)
            }
        }

        /// Replaces the sign-in by the result of a body, which changes the account at the server.
        ///
        /// - Parameter renews: whether open connections are replaced, too.
        /// - Parameter body: receives the present sign-in. It must not use these connections, which
        ///   may wait for it.
        func replaceSignIn(
            renews: Bool, _ body: (SignIn) async throws(MongoFailure) -> SignIn
        ) async throws(MongoFailure) -> SignIn {
            let next = try await settings.credentials.replace {
                (handshake) async throws(MongoFailure) in
                try await body(handshake.signIn)
            }
            if renews { topology.renew(after: signIn) }
            return next
        }

        /// Runs a body with connections to the same hosts that sign in otherwise.
        func with<R>(
            _ signIn: SignIn, _ body: (ServerConnections) async throws(MongoFailure) -> R
        ) async throws(MongoFailure) -> R {
            var settings = settings
            settings.credentials = CurrentCredentials(
                settings.credentials.current.handshake.replacing(signIn))
            let connections = ServerConnections(hosts, settings)
            defer { connections.close() }
            return try await body(connections)
        }

        /// Whether the primary can be reached, now and after each change.
        func reachability() -> AsyncStream<Bool> {
            listeners.stream { [topology] in
                do throws(MongoFailure) {
                    _ = try await topology.primary()
                } catch {
                    // The search has noted that the primary cannot be reached.
                }
            }
        }

        /// Ends all calls and connections; later calls fail.
        func close() {
            requests.close()
            followers.close()
            topology.close()
            listeners.close()
        }

        /// Runs a command, and once more after a failure that allows it.
        private func repeated(
            _ request: MongoRequest, _ kind: MongoCommandKind
        ) async throws(MongoFailure) -> BSONDocument {
            let takesNumber =
                kind == .write && settings.retriesWrites && RetryRules.takesNumber(request)
            var session = takesNumber ? sessions.take() : nil
            session?.number += 1
            // After a broken connection a command may still use the session at the server.
            var isIntact = true
            defer { if let session, isIntact { sessions.giveBack(session) } }
            var first: MongoFailure?
            while true {
                let node: ServerNode
                do throws(MongoFailure) {
                    node = try await topology.primary()
                } catch {
                    throw first ?? error
                }
                let numbered = Locked(false)
                let failure: MongoFailure
                do throws(MongoFailure) {
                    let reply = try await send(request, session, node, numbered)
                    // A write concern's error has the label, too, in a reply whose `ok` is 1.
                    guard first == nil, numbered.withLock({ $0 }),
                        MongoFailure.labels(reply).contains("RetryableWriteError")
                    else { return reply }
                    failure = MongoFailure(
                        kind: .server, message: "not confirmed", labels: ["RetryableWriteError"])
                } catch {
                    failure = error
                    if error.kind != .server { isIntact = false }
                }
                let mayRepeat = kind == .write || settings.retriesReads
                guard first == nil, mayRepeat, !Task.isCancelled, failure != .closed,
                    RetryRules.repeats(
                        kind, hasNumber: numbered.withLock { $0 }, after: failure)
                else { throw failure }
                first = failure
            }
        }

        private func send(
            _ request: MongoRequest, _ session: SessionPool.Session?, _ node: ServerNode,
            _ numbered: Locked<Bool>
        ) async throws(MongoFailure) -> BSONDocument {
            try await watching(node) { () async throws(MongoFailure) in
                try await node.with(.request) { (line) async throws(MongoFailure) in
                    var request = request
                    if let session, line.description.retriesWrites, request.body["lsid"] == nil {
                        request.body.append("lsid", .document(session.id))
                        request.body.append("txnNumber", .int64(session.number))
                        numbered.withLock { $0 = true }
                    }
                    return try await self.reply(to: request, line)
                }
            }
        }

        /// Sends a command of a session to its server.
        func send(
            _ command: BSONDocument, of id: BSONDocument, to node: ServerNode, waits: Bool
        ) async throws(MongoFailure) -> BSONDocument {
            let gate = waits ? followers : requests
            return try await gate.pass(bytes: command.byteCount) { () async throws(MongoFailure) in
                try await watching(node) { () async throws(MongoFailure) in
                    try await node.with(waits ? .wait : .request) {
                        (line) async throws(MongoFailure) in
                        var command = command
                        if line.description.hasSessions { command.append("lsid", .document(id)) }
                        return try await self.reply(to: MongoRequest(command), line)
                    }
                }
            }
        }

        private func reply(
            to request: MongoRequest, _ line: ServerNode.Line
        ) async throws(MongoFailure) -> BSONDocument {
            let wait = request.body["maxTimeMS"]?.int64Value ?? 0
            let limit = settings.socketTimeout + .milliseconds(min(max(0, wait), 86_400_000))
            return try MongoFailure.check(
                try await line.connection.reply(to: request, within: limit))
        }

        /// Runs a body.
        ///
        /// If it shows that the host is not the primary or cannot be reached, the next request looks
        /// for the primary again.
        private func watching<R>(
            _ node: ServerNode, _ body: () async throws(MongoFailure) -> R
        ) async throws(MongoFailure) -> R {
            do throws(MongoFailure) {
                return try await body()
            } catch {
                if RetryRules.losesPrimary(error), error != .cancelled { topology.lose(node) }
                throw error
            }
        }
    }
#endif
