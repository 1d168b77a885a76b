#if Remote
    internal import BSONStore
    internal import StitchCommands
    internal import StitchSync

    /// The sign-in of new connections, which the app can replace while the remote is in use.
    final class CurrentCredentials: Sendable {
        /// A sign-in, and how many came before it.
        struct Version: Sendable {
            var handshake: Handshake
            let number: Int
        }

        private let state: Locked<Version>
        /// One replacement at a time.
        private let replacing = Gate(countMax: 1)

        init(_ handshake: Handshake) { state = Locked(Version(handshake: handshake, number: 1)) }

        /// The sign-in now.
        var current: Version { state.withLock { $0 } }

        /// Replaces the sign-in; connections that are open keep theirs.
        func use(_ signIn: SignIn) {
            state.withLock { state in
                state = Version(
                    handshake: state.handshake.replacing(signIn), number: state.number + 1)
            }
        }

        /// Names the device on new connections, and what waits on it; returns whether the name is
        /// another one than before.
        func introduce(
            _ device: DeviceIdentity, _ backlog: @escaping @Sendable () -> DeviceBacklog?
        ) -> Bool {
            state.withLock { state in
                let isOther = state.handshake.client.device != device
                state.handshake.client.device = device
                state.handshake.client.backlog = backlog
                return isOther
            }
        }

        /// Replaces the sign-in by the result of a body, which changes the account at the server.
        ///
        /// A connection whose sign-in fails meanwhile waits for the end.
        func replace(
            _ body: (Handshake) async throws(MongoFailure) -> SignIn
        ) async throws(MongoFailure) -> SignIn {
            try await replacing.pass { () async throws(MongoFailure) in
                let next = try await body(current.handshake)
                use(next)
                return next
            }
        }

        /// Returns what to sign in with after a refused sign-in; `nil` to give up.
        ///
        /// The app may have a better token, or have replaced the sign-in since.
        func next(after refused: Version) async throws(MongoFailure) -> Version? {
            try await replacing.pass { () async throws(MongoFailure) in
                let now = current
                let mayDiffer = now.number != refused.number || now.handshake.asksAgain
                return mayDiffer ? now : nil
            }
        }
    }
#endif
