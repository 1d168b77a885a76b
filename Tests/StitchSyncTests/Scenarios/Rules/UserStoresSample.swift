#if Remote
    import BSONStore
    import StitchRemote
    import StitchSync

    /// The code of `Docs/USERS.md`, "Several users of one device".
    struct UserStoresSample {
        let stores: UserStores
        let address: String

        init(
            folder: String, address: String,
            password: @escaping @Sendable (String) throws -> String
        ) {
            let stores = UserStores(directory: folder) { name in
                try ServerRemote(address, signIn: .user(name, password: password(name)))
            }
            self.stores = stores
            self.address = address
        }

        func signIn(_ name: String, _ password: String) async throws -> SyncEngine {
            let server = try ServerRemote(address, signIn: .user(name, password: password))
            do {
                _ = try await server.userID()
                try stores.bindSecret(password, to: name)
            } catch let error as RemoteError where error.errorClass == .retryable {}
            await server.close()
            return try stores.signIn(name, secret: password)
        }

        func leave() async throws {
            try await stores.close("ann")
            try await stores.signOut("ann", waitingForUpload: .seconds(30))
        }
    }
#endif
