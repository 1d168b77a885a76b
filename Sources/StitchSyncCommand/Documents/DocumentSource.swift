#if CommandLine
    import BSONStore
    import class Foundation.Thread

    /// A store file or a server whose documents a command reads and writes.
    ///
    /// Writes to a synced collection of a file go through the sync engine and are pending changes.
    final class DocumentSource {
        private let server: any ShellServer

        private init(_ server: any ShellServer) { self.server = server }

        /// Opens a place, lends it to a body on a thread of its own, and closes it.
        ///
        /// - Parameter creates: whether a missing file is created.
        static func run<R: Sendable>(
            at place: String, _ signIn: some ServerSignIn, creates: Bool = false,
            _ body: @escaping @Sendable (DocumentSource) throws -> R
        ) async throws -> R {
            let opening = try ServerOpening(place, signIn, creates: creates)
            return try await withCheckedThrowingContinuation { continuation in
                let thread = Thread {
                    continuation.resume(
                        with: Result {
                            let server = try opening.connect()
                            defer { server.close() }
                            return try body(DocumentSource(server))
                        })
                }
                thread.start()
            }
        }

        /// Runs a command and returns the reply.
        ///
        /// - Throws: `CommandError` if the command fails; errors of single writes are in the reply.
        func run(_ command: BSONDocument, on database: String) throws -> BSONDocument {
            try checked(server.run(command, on: database))
        }

        /// Returns a reply whose command succeeded.
        ///
        /// - Throws: `CommandError` with the server's message.
        func checked(_ reply: BSONDocument) throws(CommandError) -> BSONDocument {
            guard reply.number("ok") == 1 else {
                throw CommandError("\(server.place): \(reply.text("errmsg"))")
            }
            return reply
        }

        /// Runs a command and returns the reply, also one whose `ok` is 0.
        ///
        /// - Throws: an error if no reply arrives.
        func reply(to command: BSONDocument, on database: String) throws -> BSONDocument {
            try server.run(command, on: database)
        }

        /// Passes each document of a command that answers with a cursor to a body.
        func forEach(
            _ command: BSONDocument, on database: String, _ body: (BSONDocument) throws -> Void
        ) throws {
            var cursor = try run(command, on: database).document("cursor")
            for document in cursor.documents("firstBatch") { try body(document) }
            while case .int64(let id)? = cursor["id"], id != 0 {
                let name = cursor.text("ns").drop { $0 != "." }.dropFirst()
                cursor = try run(
                    ["getMore": .int64(id), "collection": .string(String(name))], on: database
                ).document("cursor")
                for document in cursor.documents("nextBatch") { try body(document) }
            }
        }

        /// Returns the documents of a command that answers with a cursor.
        func documents(_ command: BSONDocument, on database: String) throws -> [BSONDocument] {
            var documents: [BSONDocument] = []
            try forEach(command, on: database) { documents.append($0) }
            return documents
        }

        /// - Throws: `CommandError` if the collection is synced, with what to do before an action.
        func checkIsFree(_ namespace: Namespace, to action: String) throws {
            guard try isSynced(namespace) else { return }
            throw CommandError(
                "\(namespace) is synced; to \(action), first delete its documents with "
                    + "`stitchsync delete \(ShellWord(server.place)) "
                    + "\(ShellWord(namespace.description)) '{}' --many` and sync, which deletes "
                    + "them at the remote, too")
        }

        /// Whether the collection is one of a file and is synced.
        func isSynced(_ namespace: Namespace) throws -> Bool {
            try server.isSynced(namespace)
        }
    }
#endif
