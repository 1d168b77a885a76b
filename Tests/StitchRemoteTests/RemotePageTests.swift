#if Remote
    import BSONStore
    import StitchRemote
    import StitchSync
    import Testing

    /// Keeps the snippets of `Docs/REMOTES.md`, so that they are compiled.
    struct RemotePageTests {
        /// What an app has from its identity provider.
        private struct IdentitySession: Sendable {
            func accessToken() async throws -> String { "" }
        }

        private func served(_ store: DocumentStore, _ password: String) throws {
            let remote = try ServerRemote(
                "stitchsync://sync.example.com/?tls=true", signIn: .user("ann", password: password))
            let engine = try SyncEngine(store: store, remote: remote)
            _ = engine
        }

        private func signIns(
            _ password: String, _ session: IdentitySession, _ keptSecret: [UInt8]?
        ) async throws {
            let user = SignIn.user("ann", password: password)
            let token = SignIn.token { try await session.accessToken() }
            let secret = keptSecret ?? SignIn.newAnonymousSecret()
            let guest = SignIn.anonymous(secret: secret)
            let uri = "stitchsync://sync.example.com/app?tls=true"
            let new = try await ServerRemote.register("ann", password: password, at: uri)
            let remote = try ServerRemote(uri, signIn: new)
            let saved = remote.traffic.receivedPlainBytes - remote.traffic.receivedBytes
            _ = (user, token, guest, remote, saved)
        }

        @Test func `the page's address is one`() throws {
            let store = try DocumentStore(at: .inMemory)
            try served(store, "secret")
            #expect(throws: RemoteError.self) { try ServerRemote("stitchsync://") }
        }
    }
#endif
