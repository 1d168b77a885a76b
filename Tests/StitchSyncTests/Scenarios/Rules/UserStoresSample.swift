#if Remote
    import BSONStore
    import StitchRemote
    import StitchSync

    /// The code of `Docs/USERS.md`, "Several users of one device"; it only has to compile.
    struct UserStoresSample {
        let stores: UserStores

        init(
            folder: String, address: String,
            password: @escaping @Sendable (String) throws -> String
        ) {
            let stores = UserStores(directory: folder) { name in
                try ServerRemote(address, signIn: .user(name, password: password(name)))
            }
            self.stores = stores
        }

        func signIn(_ name: String, _ password: String) async throws -> SyncEngine {
            let engine = try stores.signIn(name, secret: password)
            let report = try await engine.syncNow()
            guard !report.errors.contains(.authRequired) else {
                try await stores.close(name)
                throw SyncError(.authRequired, "wrong password")
            }
            if report.errors.isEmpty { try stores.bindSecret(password, to: name) }
            return engine
        }

        func leave() async throws {
            try await stores.close("ann")
            try await stores.signOut("ann", waitingForUpload: .seconds(30))
        }
    }
#endif
