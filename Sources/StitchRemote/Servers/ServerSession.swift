#if Remote
    internal import BSONStore
    internal import StitchCommands

    /// A session on one server, such as that of a cursor.
    final class ServerSession: MongoSession {
        private let node: ServerNode
        private let server: ServerConnections
        private let id = SessionPool.Session().id

        init(_ node: ServerNode, _ server: ServerConnections) {
            self.node = node
            self.server = server
        }

        func run(
            _ command: BSONDocument, on database: String, waits: Bool
        ) async throws(MongoFailure) -> BSONDocument {
            try await server.send(command.on(database), of: id, to: node, waits: waits)
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
