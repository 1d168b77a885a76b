#if Remote
    internal import BSONStore
    internal import StitchSync
    internal import StitchWire

    extension ConnectionSettings {
        /// Merges the parts of a URI with the app's options; the URI's win.
        ///
        /// - Throws: `RemoteError` of class `.rejected` for parts that contradict each other.
        init(
            _ uri: ServerURI, _ signIn: SignIn, _ options: ServerRemote.Options
        ) throws(RemoteError) {
            let given = uri.options
            let isEncrypted = given.tls ?? false
            guard isEncrypted || options.trustedRoots.isEmpty else {
                throw ServerURI.refusal("trustedRoots need tls=true")
            }
            security =
                isEncrypted
                ? try TransportSecurity(
                    rootsFile: given.tlsCAFile, roots: options.trustedRoots) : nil
            let signIn = try Self.signIn(uri, signIn)
            try Self.check(
                signIn, isEncrypted: isEncrypted, isSecret: Self.isSecret(uri.hosts, isEncrypted))
            let compression = Self.compression(given.compressors, options.compression)
            self.compression = compression
            credentials = CurrentCredentials(
                Handshake(
                    signIn,
                    client: ClientMetadata(
                        applicationName: given.appName ?? options.applicationName,
                        applicationVersion: options.applicationVersion),
                    isEncrypted: isEncrypted, compressors: compression.names))
            connectTimeout = given.connectTimeout ?? options.connectTimeout
            socketTimeout = given.socketTimeout ?? options.socketTimeout
            serverSelectionTimeout =
                given.serverSelectionTimeout ?? options.serverSelectionTimeout
            requestsMax = options.requestsMax
            followersMax = options.followersMax
            replicaSet = given.replicaSet
            isDirect = uri.isDirect
            retriesReads = given.retryReads ?? true
            retriesWrites = given.retryWrites ?? true
            usesBulkWrite = options.usesBulkWrite
        }

        /// Returns the choice of a URI, or else of the options.
        ///
        /// - Parameter named: the methods that the URI names; empty for none.
        private static func compression(
            _ named: [WireCompressor]?, _ mode: RemoteCompression
        ) -> CompressionChoice {
            guard let named else {
                return CompressionChoice(mode: mode, offered: CompressionChoice.supported)
            }
            return CompressionChoice(mode: named.isEmpty ? .never : .always, offered: named)
        }

        /// Whether no one else on the network can read what is sent to some hosts.
        static func isSecret(_ hosts: [ServerAddress], _ isEncrypted: Bool) -> Bool {
            isEncrypted || hosts.allSatisfy(\.isLoopback)
        }

        /// Checks that bytes are encrypted, or do not leave the machine.
        static func checkSecrecy(_ isSecret: Bool, _ what: String) throws(RemoteError) {
            guard isSecret else {
                throw ServerURI.refusal("\(what) is sent over TLS only; add tls=true")
            }
        }

        /// Checks whether devices may sign in over the connections.
        ///
        /// - Throws: `RemoteError` of class `.rejected` when the sign-in needs encryption, or the
        ///   secret is too short or too long.
        static func check(
            _ signIn: SignIn, isEncrypted: Bool, isSecret: Bool
        ) throws(RemoteError) {
            switch signIn {
            case .none, .user: break
            case .token: try checkSecrecy(isEncrypted, "a token")
            case .anonymous(let secret):
                try checkSecrecy(isSecret, "a secret")
                guard (16...256).contains(secret.count) else {
                    throw RemoteError(
                        .rejected, "the secret has \(secret.count) bytes; allowed are 16 to 256")
                }
            }
        }

        private static func signIn(
            _ uri: ServerURI, _ signIn: SignIn
        ) throws(RemoteError) -> SignIn {
            guard let user = uri.user else {
                guard uri.options.authSource == nil, uri.options.authMechanism == nil else {
                    throw ServerURI.refusal(
                        "authSource and authMechanism need a user in the URI; name the database in "
                            + "SignIn.user(_:password:database:) instead")
                }
                return signIn
            }
            guard case .none = signIn else {
                throw ServerURI.refusal("it has a user, and so has signIn; name one of them only")
            }
            guard let password = uri.password else {
                throw ServerURI.refusal("the user has no password; write user:password@host")
            }
            let database = uri.options.authSource ?? uri.database ?? "admin"
            guard !database.contains(where: { "/\\ \".$".contains($0) }) else {
                throw ServerURI.refusal(
                    "the option authSource is \"\(database)\"; allowed is the name of a database")
            }
            return .user(user, password: password, database: database)
        }
    }
#endif
