#if Remote
    public import BSONStore
    internal import StitchCommands
    public import StitchSync

    extension ServerRemote {
        /// A token that sets a new password once.
        ///
        /// ```swift
        /// let token = try await operators.makePasswordToken(for: "ann", on: "app")
        /// ```
        public struct PasswordToken: Sendable, Hashable {
            /// The token, as the user gives it to ``ServerRemote/setPassword(_:token:to:at:options:)``.
            public let text: String
            /// The time from which the server refuses the token.
            public let expiry: BSONDatetime
        }

        /// An open connection of a user.
        ///
        /// ```swift
        /// let others = try await remote.sessions().filter { !$0.isThisOne }
        /// ```
        public struct Session: Sendable, Hashable, Identifiable {
            /// The number that the server gave the connection.
            public let id: Int
            /// The app's name for itself, or an empty text.
            public let application: String
            /// The name of the client's library, or an empty text.
            public let driver: String
            /// The client's platform, or an empty text.
            public let platform: String
            /// When the user signed in.
            public let since: BSONDatetime
            /// When the client sent its last command.
            public let lastSeen: BSONDatetime
            /// Whether the connection is the one that asked.
            public let isThisOne: Bool

            fileprivate init?(_ document: BSONDocument) {
                guard let id = document["id"]?.int64Value,
                    case .datetime(let since) = document["since"],
                    case .datetime(let lastSeen) = document["lastSeen"]
                else { return nil }
                let device = document["device"]?.documentValue
                self.id = Int(id)
                application = device?["application"]?.stringValue ?? ""
                driver = device?["driver"]?.stringValue ?? ""
                platform = device?["platform"]?.stringValue ?? ""
                self.since = since
                self.lastSeen = lastSeen
                isThisOne = document["isThisOne"]?.boolValue ?? false
            }
        }

        /// Signs in otherwise from now on.
        ///
        /// Call it when the user typed a new password after the sign-in was refused. Then call
        /// `SyncEngine/noteSignIn()`, and the engine goes on.
        ///
        /// ```swift
        /// try remote.use(.user("ann", password: typed, database: "app"))
        /// engine.noteSignIn()
        /// ```
        ///
        /// Open connections are replaced by new ones. The store of the engine stays, so sign in as
        /// another user only with another store (`UserStores`).
        ///
        /// - Throws: `RemoteError` of class `.rejected` for a token without TLS, or an anonymous
        ///   secret that is invalid or would leave the machine unencrypted.
        public func use(_ signIn: SignIn) throws(RemoteError) {
            try ConnectionSettings.check(
                signIn, isEncrypted: connections.isEncrypted, isSecret: connections.isSecret)
            connections.use(signIn)
        }

        /// Signs in at the server, and returns the id by which rules know the user, `%%user.id`.
        ///
        /// It always asks the server, so it also tells whether a password is right.
        ///
        /// ```swift
        /// let owner = try await remote.userID()
        /// try await todos.insertOne(["owner": .string(owner), "task": "milk"])
        /// ```
        ///
        /// - Returns: the name of a user of the database `admin`, otherwise `:database.name`; see
        ///   `Docs/RULES.md`. A registered guest keeps the id of the anonymous user.
        /// - Throws: `RemoteError` of class `.unauthenticated` for a wrong password or token, and for
        ///   a remote that does not sign in; of class `.retryable` when the server cannot be reached.
        public func userID() async throws(RemoteError) -> String {
            let reply: BSONDocument
            do throws(MongoFailure) {
                reply = try await connections.runSignedIn(
                    ["connectionStatus": 1], on: "admin", .read)
            } catch {
                throw error.accountError
            }
            let info = reply["authInfo"]?.documentValue
            if let id = info?["stitchsyncUserID"]?.stringValue { return id }
            // MongoDB itself, where no rules of this package apply.
            let users = info?["authenticatedUsers"]?.arrayValue?.compactMap(\.documentValue)
            guard let name = users?.first?["user"]?.stringValue else {
                throw RemoteError(.unauthenticated, "the remote does not sign in")
            }
            return name
        }

        /// Changes the password of the user of this remote, which goes on with the new one.
        ///
        /// ```swift
        /// try await remote.changePassword(from: old, to: new, signingOutOthers: true)
        /// ```
        ///
        /// If the answer is lost, call it again with the same passwords.
        ///
        /// - Parameters:
        ///   - new: 8 to 1,024 bytes.
        ///   - signingOutOthers: whether the sign-ins of the user's other devices end.
        /// - Returns: the new sign-in, for the next start of the app.
        /// - Throws: `RemoteError` of class `.unauthenticated` for a wrong old password (18); of
        ///   class `.rejected` for an invalid new one, without TLS, or when the remote signs in
        ///   without a password.
        @discardableResult
        public func changePassword(
            from old: String, to new: String, signingOutOthers: Bool = false
        ) async throws(RemoteError) -> SignIn {
            try ConnectionSettings.checkSecrecy(connections.isSecret, "a password")
            let command: BSONDocument = [
                "stitchsyncChangePassword": 1, "old": .string(old), "pwd": .string(new),
                "signOutOthers": .bool(signingOutOthers),
            ]
            do throws(MongoFailure) {
                return try await connections.replaceSignIn(renews: false) {
                    (present) async throws(MongoFailure) in
                    guard case .user(let name, _, let database) = present else {
                        throw MongoFailure(
                            kind: .usage, message: "the remote signs in without a password")
                    }
                    let next = SignIn.user(name, password: new, database: database)
                    try await connections.replace(
                        .user(name, password: old, database: database), by: next, command,
                        on: database)
                    return next
                }
            } catch {
                throw error.accountError
            }
        }

        /// Ends all sign-ins of the user of this remote.
        ///
        /// A device that knows the password signs in again by itself, as this remote does. To keep
        /// another person out, change the password and sign out the others.
        ///
        /// - Throws: `RemoteError`, of class `.rejected` for users without a password (20).
        public func signOutEverywhere() async throws(RemoteError) {
            do throws(MongoFailure) {
                _ = try await connections.runSignedIn(
                    ["stitchsyncSignOutEverywhere": 1], on: "admin", .write)
            } catch {
                throw error.accountError
            }
        }

        /// Returns the open connections of the user of this remote, at the same server or gateway.
        ///
        /// - Throws: `RemoteError`, of class `.unauthenticated` without a sign-in.
        public func sessions() async throws(RemoteError) -> [Session] {
            let reply: BSONDocument
            do throws(MongoFailure) {
                reply = try await connections.runSignedIn(
                    ["stitchsyncSessions": 1], on: "admin", .read)
            } catch {
                throw error.accountError
            }
            return (reply["sessions"]?.arrayValue ?? []).compactMap {
                $0.documentValue.flatMap(Session.init)
            }
        }

        /// Ends the sign-in of one of the user's connections.
        ///
        /// A device that knows the password signs in again by itself. To keep another person out,
        /// change the password and sign out the others.
        ///
        /// - Throws: `RemoteError`, with the code 206 when the user has no such session.
        public func endSession(_ id: Int) async throws(RemoteError) {
            do throws(MongoFailure) {
                _ = try await connections.runSignedIn(
                    ["stitchsyncEndSession": .int32(Int32(clamping: id))], on: "admin", .write)
            } catch {
                throw error.accountError
            }
        }

        /// Deletes the account of the user of this remote, which signs in no longer.
        ///
        /// The server's rules decide what happens to the user's documents. The local store stays:
        /// remove it afterwards.
        ///
        /// - Parameter password: `nil` for users of tokens and anonymous users.
        /// - Throws: `RemoteError` of class `.unauthenticated` for a wrong password (18), and when an
        ///   earlier call, whose answer was lost, has deleted the account.
        public func deleteAccount(password: String? = nil) async throws(RemoteError) {
            try ConnectionSettings.checkSecrecy(connections.isSecret, "a password")
            var command: BSONDocument = ["stitchsyncDeleteAccount": 1]
            if let password { command.append("pwd", .string(password)) }
            do throws(MongoFailure) {
                _ = try await connections.replaceSignIn(renews: true) {
                    (present) async throws(MongoFailure) in
                    var signIn = present
                    if case .user(let name, _, let database) = present, let password {
                        signIn = .user(name, password: password, database: database)
                    }
                    _ = try await connections.with(signIn) {
                        (others) async throws(MongoFailure) in
                        try await others.run(command, on: "admin", .write)
                    }
                    return .none
                }
            } catch {
                throw error.accountError
            }
        }

        /// Registers the anonymous user of this remote, who keeps all documents; the remote goes on
        /// as the registered user.
        ///
        /// The server must run with `--sign-up`. The user's id in rules stays the same. From then on
        /// the anonymous secret does not sign in.
        ///
        /// ```swift
        /// let signIn = try await remote.register("ann", password: password)
        /// ```
        ///
        /// If the answer is lost, call it again with the same name and password.
        ///
        /// - Parameters:
        ///   - name: 1 to 128 bytes, compared by its bytes.
        ///   - password: 8 to 1,024 bytes.
        /// - Returns: the new sign-in, for the next start of the app.
        /// - Throws: `RemoteError` of class `.rejected` when the name is taken (51003), the remote is
        ///   not signed in anonymously, its URI names no database, or the name or password is
        ///   invalid; of class `.unauthenticated` when the anonymous user was registered already.
        @discardableResult
        public func register(
            _ name: String, password: String
        ) async throws(RemoteError) -> SignIn {
            try ConnectionSettings.checkSecrecy(connections.isSecret, "a password")
            guard let database else {
                throw ServerURI.hasNoDatabase
            }
            let next = SignIn.user(name, password: password, database: database)
            do throws(MongoFailure) {
                return try await connections.replaceSignIn(renews: true) {
                    (present) async throws(MongoFailure) in
                    guard case .anonymous = present else {
                        throw MongoFailure(
                            kind: .usage, message: "the remote is not signed in anonymously")
                    }
                    try await connections.replace(
                        present, by: next,
                        ["stitchsyncRegister": .string(name), "pwd": .string(password)],
                        on: database)
                    return next
                }
            } catch {
                throw error.accountError
            }
        }

        /// Sets a forgotten password by a token, once, and returns the user's sign-in.
        ///
        /// The server ends all sign-ins of the user. The URI names the app's database.
        ///
        /// ```swift
        /// let signIn = try await ServerRemote.setPassword("ann", token: token, to: new, at: uri)
        /// try remote.use(signIn)
        /// ```
        ///
        /// - Throws: `RemoteError` of class `.unauthenticated` (18) for a token that is wrong, used
        ///   or ended; of class `.rejected` for an invalid password or URI.
        @discardableResult
        public static func setPassword(
            _ name: String, token: String, to password: String, at uri: String,
            options: Options = Options()
        ) async throws(RemoteError) -> SignIn {
            let (parsed, database) = try ServerURI.ofStranger(uri, "a token needs none")
            try await send(
                [
                    "stitchsyncSetPassword": .string(name), "token": .string(token),
                    "pwd": .string(password),
                ], on: database, at: parsed, options)
            return .user(name, password: password, database: database)
        }

        /// Asks a server that runs with `--password-mail` to send a user a token for a new password.
        ///
        /// The call succeeds whether the user exists or not. A user receives at most one token in
        /// five minutes. It is valid for an hour, for ``setPassword(_:token:to:at:options:)``. The
        /// URI names the app's database.
        ///
        /// ```swift
        /// try await ServerRemote.requestPasswordToken(for: "ann", at: uri)
        /// ```
        ///
        /// - Throws: `RemoteError` of class `.rejected` when the server does not allow it (59), or
        ///   for an invalid name or URI; of class `.retryable` when the server cannot be reached or
        ///   has had too many requests (462).
        public static func requestPasswordToken(
            for name: String, at uri: String, options: Options = Options()
        ) async throws(RemoteError) {
            let (parsed, database) = try ServerURI.ofStranger(
                uri, "a request for a token needs none")
            try await send(
                ["stitchsyncRequestPasswordToken": .string(name)], on: database, at: parsed,
                options)
        }

        /// Makes a token by which a user sets a new password, as an administrator of the users.
        ///
        /// - Parameters:
        ///   - database: the one that holds the user.
        ///   - time: a minute to a week; parts of a minute are dropped.
        /// - Throws: `RemoteError` of class `.rejected` for an unknown user (11), without the right
        ///   (13), or for an invalid time.
        public func makePasswordToken(
            for name: String, on database: String, validFor time: Duration = .seconds(3_600)
        ) async throws(RemoteError) -> PasswordToken {
            try ConnectionSettings.checkSecrecy(connections.isSecret, "a token")
            let reply: BSONDocument
            do throws(MongoFailure) {
                reply = try await connections.runSignedIn(
                    [
                        "stitchsyncMakePasswordToken": .string(name),
                        "minutes": .int32(Int32(clamping: time.components.seconds / 60)),
                    ], on: database, .write)
            } catch {
                throw error.accountError
            }
            guard let text = reply["token"]?.stringValue,
                case .datetime(let expiry) = reply["expires"]
            else { throw RemoteError(.unknown, "the server's reply has no token") }
            return PasswordToken(text: text, expiry: expiry)
        }
    }

    extension ServerConnections {
        /// Runs a command, and once more with a new sign-in if the sign-in was ended.
        fileprivate func runSignedIn(
            _ command: BSONDocument, on database: String, _ kind: MongoCommandKind
        ) async throws(MongoFailure) -> BSONDocument {
            let before = signIn
            do throws(MongoFailure) {
                return try await run(command, on: database, kind)
            } catch {
                guard error.kind == .server, error.code == 391, renew(after: before) else {
                    throw error
                }
                return try await run(command, on: database, kind)
            }
        }

        /// Runs a command that replaces a sign-in by another one.
        ///
        /// If its answer is lost, or the former sign-in is refused, a sign-in by the next one shows
        /// that the command succeeded, now or earlier.
        func replace(
            _ former: SignIn, by next: SignIn, _ command: BSONDocument, on database: String
        ) async throws(MongoFailure) {
            let ping: BSONDocument = ["ping": 1]
            try await with(former) { (others) async throws(MongoFailure) in
                do throws(MongoFailure) {
                    _ = try await others.run(ping, on: "admin", .read)
                } catch {
                    guard error.kind == .authentication else { throw error }
                    try await confirm(next, after: error)
                    return
                }
                do throws(MongoFailure) {
                    _ = try await others.run(command, on: database, .write)
                } catch {
                    guard error.kind == .network else { throw error }
                    try await confirm(next, after: error)
                }
            }
        }

        /// Checks that a sign-in works; else throws the failure of the command before.
        private func confirm(
            _ signIn: SignIn, after failure: MongoFailure
        ) async throws(MongoFailure) {
            guard failure != .cancelled, !Task.isCancelled else { throw failure }
            do throws(MongoFailure) {
                try await with(signIn) { (others) async throws(MongoFailure) in
                    _ = try await others.run(["ping": 1], on: "admin", .read)
                }
            } catch {
                throw failure
            }
        }
    }
#endif
