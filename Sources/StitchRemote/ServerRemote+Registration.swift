#if Remote
    package import BSONStore
    internal import StitchCommands
    public import StitchSync

    extension ServerRemote {
        /// Makes a user at a server that runs with `--sign-up`, and returns the user's sign-in.
        ///
        /// The URI names the app's database, which then holds the user. The password is sent to the
        /// server, so this needs TLS, or a server on the same machine.
        ///
        /// ```swift
        /// let uri = "stitchsync://sync.example.com/app?tls=true"
        /// let signIn = try await ServerRemote.register("ann", password: password, at: uri)
        /// let remote = try ServerRemote(uri, signIn: signIn)
        /// ```
        ///
        /// - Parameters:
        ///   - name: 1 to 128 bytes, compared by its bytes.
        ///   - password: 8 to 1,024 bytes.
        /// - Throws: `RemoteError` of class `.rejected` when the name is taken (51003), the server
        ///   does not allow it (59), or the name, password or URI is invalid; of class `.retryable`
        ///   when the server cannot be reached or has had too many sign-ups (462).
        @discardableResult
        public static func register(
            _ name: String, password: String, at uri: String, options: Options = Options()
        ) async throws(RemoteError) -> SignIn {
            let (parsed, database) = try ServerURI.ofStranger(
                uri, "the new user signs up without one")
            try await send(
                ["stitchsyncSignUp": .string(name), "pwd": .string(password)], on: database,
                at: parsed, options)
            return .user(name, password: password, database: database)
        }

        /// Makes a user on the database `admin`, as the administrator whom the URI names.
        ///
        /// - Parameter roles: as the command `createUser` takes them.
        /// - Throws: `RemoteError` with the server's code and message, or for an invalid URI.
        package static func createUser(
            _ name: String, password: String, roles: BSONArray, customData: BSONDocument?,
            at uri: String
        ) async throws(RemoteError) {
            var command: BSONDocument = [
                "createUser": .string(name), "pwd": .string(password), "roles": .array(roles),
            ]
            if let customData { command.append("customData", .document(customData)) }
            try await send(command, on: "admin", at: try ServerURI(uri), Options())
        }

        /// Runs a command on users, as the administrator whom the URI names.
        ///
        /// - Throws: `RemoteError` with the server's code and message, or for an invalid URI.
        package static func administrate(
            _ command: BSONDocument, on database: String, at uri: String
        ) async throws(RemoteError) -> BSONDocument {
            try await send(command, on: database, at: try ServerURI(uri), Options())
        }

        /// Sends a command that holds a password, on connections of its own.
        ///
        /// - Throws: `RemoteError` of class `.rejected` when the name is taken (51003), or the
        ///   password would leave the machine unencrypted.
        @discardableResult
        static func send(
            _ command: BSONDocument, on database: String, at uri: ServerURI, _ options: Options
        ) async throws(RemoteError) -> BSONDocument {
            let settings = try ConnectionSettings(uri, .none, options)
            let connections = ServerConnections(uri.hosts, settings)
            defer { connections.close() }
            try ConnectionSettings.checkSecrecy(connections.isSecret, "a password")
            do throws(MongoFailure) {
                return try await connections.run(command, on: database, .write)
            } catch {
                throw error.accountError
            }
        }
    }

    extension MongoFailure {
        /// The corresponding error of a call that concerns an account.
        var accountError: RemoteError {
            let isRefused = kind == .usage || kind == .server && [11, 51_003].contains(code)
            return isRefused ? RemoteError(.rejected, code: code, message) : remoteError
        }
    }
#endif
