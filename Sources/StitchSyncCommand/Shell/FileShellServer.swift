#if CommandLine && Server
    import BSONScript
    import BSONStore
    import StitchServer
    import StitchSync

    /// A store file that answers commands as `stitchsync serve` does.
    ///
    /// Documents of a synced collection are written by an engine, so that they wait for upload.
    final class FileShellServer: ShellServer {
        let place: String
        private let server: OfflineServer
        private let store: DocumentStore
        private var engine: SyncEngine?

        /// Opens a store file; creates a missing one.
        ///
        /// - Throws: the errors of opening the store.
        init(_ path: String) throws {
            place = path
            do {
                store = try DocumentStore(
                    at: path == ShellRun.noPlace ? .inMemory : .file(path),
                    options: .init(changeHistory: .keep(changesMax: 100_000)))
            } catch {
                throw CommandError("\(path) cannot be opened: \(error.message) (\(error.code))")
            }
            server = try OfflineServer(over: store, keepsTransactions: true)
        }

        func run(_ command: BSONDocument, on database: String) throws -> BSONDocument {
            if let write = try syncedWrite(command, on: database) {
                return try BlockingCall.run { try await write.run(command) }
            }
            var command = command
            command.append("$db", .string(database))
            guard let reply = server.answer(command: command) else {
                throw CommandError("\(place) did not answer the command")
            }
            return reply
        }

        /// Returns the writes of a synced collection, if the command is one.
        private func syncedWrite(
            _ command: BSONDocument, on database: String
        ) throws -> SyncedWrites? {
            guard let (name, target) = command.first(where: { _ in true }),
                SyncedWrites.isWrite(name), case .string(let collection) = target,
                !database.isEmpty, !collection.isEmpty
            else { return nil }
            let namespace = Namespace(database, collection)
            guard try isSynced(namespace) else { return nil }
            guard command["autocommit"] == nil else {
                throw ScriptError(
                    "MongoshInvalidInputError",
                    "\(namespace) is synced, so that a transaction cannot write to it")
            }
            let engine = try engine ?? SyncEngine(lookingAt: store)
            self.engine = engine
            return SyncedWrites(engine.collection(namespace)) { try WriteForm.check($0) }
        }

        func isSynced(_ namespace: Namespace) throws -> Bool {
            try store.read { try $0.isSynced(namespace) }
        }

        func signIn(
            _ user: String, password: String, on database: String
        ) throws -> BSONDocument {
            throw CommandError(
                "\(place) is a file, which the shell opens without a user; to sign in, run "
                    + "`stitchsync serve \(ShellWord.option("db", place)) --auth` and open the "
                    + "shell at its address")
        }

        func signOut() throws -> BSONDocument { try run(["logout": 1], on: "admin") }

        func close() { store.close() }
    }
#endif
