#if CommandLine && Remote
    import BSONStore
    import StitchRemote
    import StitchSync

    /// A server that answers the commands of a shell.
    final class RemoteShellServer: ShellServer {
        /// MongoDB's code of a wrong name or password.
        private static let authenticationFailed = 18

        let place: String
        private let connect: () throws -> ServerRemote
        private var remote: ServerRemote
        /// The sign-in of `db.auth` or `db.logout`; `nil` for that of the beginning.
        private var signIn: SignIn?

        /// Connects to a server.
        ///
        /// - Parameter connect: makes the connections of the beginning, and those after an
        ///   interruption.
        /// - Throws: an error if the server cannot be reached.
        init(place: String, connect: @escaping () throws -> ServerRemote) throws {
            self.connect = connect
            remote = try connect()
            self.place = HiddenPassword.hidden(in: place)
            let reply = try run(["hello": 1], on: "admin")
            guard reply.number("ok") == 1 else { throw CommandError(reply.text("errmsg")) }
        }

        func run(_ command: BSONDocument, on database: String) throws -> BSONDocument {
            do {
                return try BlockingCall.run { [remote] in
                    try await remote.run(command, on: database)
                }
            } catch {
                if WorkBudget.current?.fault != nil { try renew() }
                throw error
            }
        }

        /// Replaces the connections.
        ///
        /// The server ends a command whose client has left; on the old connection the next command
        /// would wait for it.
        private func renew() throws {
            let next = try connect()
            if let signIn { try next.use(signIn) }
            // The evaluation's budget is spent.
            WorkBudget().running { close() }
            remote = next
        }

        func signIn(
            _ user: String, password: String, on database: String
        ) throws -> BSONDocument {
            try use(.user(user, password: password, database: database))
        }

        func signOut() throws -> BSONDocument { try use(.none) }

        /// Replaces the connections by ones of another sign-in, if the server accepts it.
        private func use(_ signIn: SignIn) throws -> BSONDocument {
            let next = try connect()
            let reply: BSONDocument
            do {
                try next.use(signIn)
                reply = try BlockingCall.run { try await next.run(["hello": 1], on: "admin") }
            } catch let refusal as RemoteError
                where refusal.code == Self.authenticationFailed
            {
                try BlockingCall.run { await next.close() }
                return [
                    "ok": 0, "errmsg": "Authentication failed.",
                    "code": .int32(Int32(Self.authenticationFailed)),
                    "codeName": "AuthenticationFailed",
                ]
            } catch {
                try BlockingCall.run { await next.close() }
                throw error
            }
            guard reply.number("ok") == 1 else {
                try BlockingCall.run { await next.close() }
                return reply
            }
            close()
            remote = next
            self.signIn = signIn
            return ["ok": 1]
        }

        func isSynced(_ namespace: Namespace) -> Bool { false }

        func close() {
            do {
                try BlockingCall.run { [remote] in await remote.close() }
            } catch {
                // The body throws nothing.
            }
        }
    }
#endif
