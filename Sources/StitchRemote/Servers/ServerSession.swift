#if Remote
    internal import BSONStore
    internal import StitchCommands

    /// A session on one server, such as that of a cursor.
    final class ServerSession: MongoSession {
        private let node: ServerNode
        private let server: ServerConnections
        private let id = SessionPool.Session().id
        private let transaction = Locked(Transaction.none)

        /// The state of the session's transaction; the session has at most one.
        private enum Transaction {
            case none
            /// The next command begins it.
            case new
            case running
        }

        init(_ node: ServerNode, _ server: ServerConnections) {
            self.node = node
            self.server = server
        }

        func run(
            _ command: BSONDocument, on database: String, waits: Bool
        ) async throws(MongoFailure) -> BSONDocument {
            let before = transaction.withLock { transaction in
                defer { if transaction == .new { transaction = .running } }
                return transaction
            }
            var command = command.on(database)
            if before != .none { command = Self.inTransaction(command, begins: before == .new) }
            return try await server.send(command, of: id, to: node, waits: waits)
        }

        /// Adds the fields of the session's only transaction.
        ///
        /// Source: the drivers' specification "Transactions".
        private static func inTransaction(
            _ command: BSONDocument, begins: Bool
        ) -> BSONDocument {
            var command = command
            command.append("txnNumber", .int64(1))
            if begins { command.append("startTransaction", true) }
            command.append("autocommit", false)
            return command
        }

        func startTransaction() async throws(MongoFailure) { transaction.withLock { $0 = .new } }

        func commitTransaction() async throws(MongoFailure) {
            try await finish(["commitTransaction": 1, "writeConcern": ["w": "majority"]])
        }

        func abortTransaction() async {
            do throws(MongoFailure) {
                try await finish(["abortTransaction": 1])
            } catch {
                // The server reverts a transaction that it is not asked to revert.
            }
        }

        private func finish(_ command: BSONDocument) async throws(MongoFailure) {
            let before = transaction.withLock { transaction in
                defer { transaction = .none }
                return transaction
            }
            guard before == .running else { return }
            let finishing = Self.inTransaction(command.on("admin"), begins: false)
            _ = try await server.send(finishing, of: id, to: node, waits: false)
        }

        func end(killing cursor: MongoCursorID?) {
            if let cursor {
                var command = cursor.kill.on(cursor.namespace.database)
                command.append("lsid", .document(id))
                node.post(command)
            }
            node.post(["endSessions": [.document(id)], "$db": "admin"])
        }
    }
#endif
