public import BSONStore

/// The stores of an app's users: one for each, so that no user sees another's documents.
///
/// Pending changes stay in their user's store until the user signs in again.
///
/// Without a network the remote cannot say whether a password is right. So bind each store to
/// the password, or another secret of the user, that the remote accepted: afterwards only this
/// secret opens the store. The documents are not encrypted. `Docs/USERS.md` has the whole code of a
/// sign-in.
///
/// ```swift
/// let stores = UserStores(directory: "users") { _ in try InProcessRemote(at: .file("remote.db")) }
/// let engine = try stores.signIn("anna", secret: password)
/// try await stores.signOut("anna", waitingForUpload: .seconds(30))
/// ```
public final class UserStores: Sendable {
    /// A closure that makes a user's remote, called once per sign-in.
    public typealias MakeRemote = @Sendable (_ userID: String) throws -> any Remote

    private let directory: String
    private let options: DocumentStore.Options
    private let makeRemote: MakeRemote
    private let initialSubscriptions: InitialSubscriptions?
    /// The signed-in users by the bytes of their ids: ids that only look alike are different users.
    private let places = Locked<[[UInt8]: Place]>([:])

    /// The state of a user's store.
    private enum Place {
        case open(SyncEngine)
        /// The store is being closed or deleted; a new engine on its file would be deleted with it.
        case ending
    }

    /// Makes the stores' manager; the first sign-in makes the directory.
    ///
    /// - Parameter initialSubscriptions: the first subscriptions of each user's store.
    public init(
        directory: String, options: DocumentStore.Options = .init(),
        initialSubscriptions: InitialSubscriptions? = nil, makeRemote: @escaping MakeRemote
    ) {
        self.initialSubscriptions = initialSubscriptions
        self.directory = directory
        self.options = options
        self.makeRemote = makeRemote
    }

    /// Opens a user's store and returns its engine.
    ///
    /// An engine that is open already is returned and syncs at once.
    ///
    /// - Parameter secret: what only the user knows, such as the password. A store that
    ///   ``bindSecret(_:to:)`` has bound opens with this secret only, also without a network. Any
    ///   secret, or none, opens another store.
    /// - Throws: `SyncError` of code `.wrongSecret` for another secret than the bound one, of code
    ///   `.storeFailed` for an empty user id, of code `.storeInUse` while the user is being signed
    ///   out or closed; `StoreError` when the store cannot be opened; errors of the file system and
    ///   of the closure that makes the remote.
    public func signIn(_ userID: String, secret: String? = nil) throws -> SyncEngine {
        try UserFolder(of: userID, in: directory).secret.check(secret)
        return try open(userID)
    }

    /// Binds a user's store to a secret, in place of an earlier one.
    ///
    /// Call it when the server has accepted the secret, as `ServerRemote.userID()` tells: at a
    /// sign-in, and after the user has changed the password. A pass without an error is no proof, since
    /// one without collections asks nothing. A salted slow hash of the secret is stored.
    ///
    /// - Throws: `SyncError` of code `.storeFailed` for an empty user id; errors of the file system.
    public func bindSecret(_ secret: String, to userID: String) throws {
        guard !userID.isEmpty else { throw SyncError(.storeFailed, "a user id cannot be empty") }
        let folder = UserFolder(of: userID, in: directory)
        try folder.make()
        try folder.secret.bind(secret)
    }

    private func open(_ userID: String) throws -> SyncEngine {
        guard !userID.isEmpty else { throw SyncError(.storeFailed, "a user id cannot be empty") }
        return try places.withLock { places in
            switch places[Array(userID.utf8)] {
            case .open(let engine) where engine.isOpen:
                engine.noteSignIn()
                return engine
            case .open(let engine):
                // The app closed it by itself.
                engine.store.close()
                engine.noteClosed()
            case .ending: throw Self.isEnding
            case nil: break
            }
            let folder = UserFolder(of: userID, in: directory)
            try folder.make()
            let store = try DocumentStore(at: .file(folder.storePath), options: options)
            let engine = try SyncEngine(
                store: store, remote: try makeRemote(userID),
                initialSubscriptions: initialSubscriptions)
            places[Array(userID.utf8)] = .open(engine)
            return engine
        }
    }

    /// Returns the remote that the closure made for a signed-in user; `nil` for another user.
    ///
    /// An app calls it for what the remote does besides sync, such as to change the password.
    ///
    /// ```swift
    /// if let remote = stores.remote(of: "anna") as? ServerRemote {
    ///     try await remote.changePassword(from: old, to: new)
    ///     try stores.bindSecret(new, to: "anna")
    /// }
    /// ```
    public func remote(of userID: String) -> (any Remote)? {
        places.withLock { places in
            guard case .open(let engine) = places[Array(userID.utf8)] else { return nil }
            return engine.remote
        }
    }

    /// Returns the ids of the users with a store in the directory, signed in or not, sorted.
    ///
    /// - Throws: errors of the file system.
    public func userIDs() throws -> [String] {
        try UserFolder.userIDs(in: directory)
    }

    /// Closes a user's store and keeps it for the next sign-in.
    ///
    /// Cancel ``SyncEngine/run()`` first. Waits for deliveries as ``SyncEngine/close()`` does.
    ///
    /// - Throws: as ``SyncEngine/release()`` does; after an error the engine stays open.
    public func close(_ userID: String) async throws {
        let key = Array(userID.utf8)
        let engine: SyncEngine? = places.withLock { places in
            guard case .open(let engine) = places[key] else { return nil }
            places[key] = .ending
            return engine
        }
        guard let engine else { return }
        try await end(engine, key) { engine in
            await engine.endDelivery()
            engine.store.close()
        }
        places.withLock { $0[key] = nil }
    }

    /// Closes the store of a user in the state `ending`; after an error the user stays signed in.
    private func end(
        _ engine: SyncEngine, _ key: [UInt8], closing: (SyncEngine) async throws -> Void
    ) async throws {
        do {
            try await engine.release()
            try await closing(engine)
        } catch {
            // The engine is still open and can acquire the lease.
            places.withLock { $0[key] = .open(engine) }
            throw error
        }
        engine.noteClosed()
    }

    private static var isEnding: SyncError {
        SyncError(.storeInUse, "the user is being signed out or closed")
    }

    /// Signs a user out: uploads pending changes and files, then deletes the user's store, not the
    /// remote's data.
    ///
    /// Cancel ``SyncEngine/run()`` first. Simultaneous writes of another process are not waited
    /// for.
    ///
    /// - Parameter timeout: the longest wait for uploads; `nil` uploads nothing, which loses
    ///   pending changes and files.
    /// - Throws: `SyncError` of code `.timedOut` when a change or file is still pending after the
    ///   timeout, when a paused or foreign document has a change, when the app writes meanwhile, or when the
    ///   remote refused a write meanwhile or without a report to the app. Then the user stays
    ///   signed in and nothing is deleted. `SyncError` of code `.storeInUse` when another call
    ///   signs the user out or closes the store.
    public func signOut(_ userID: String, waitingForUpload timeout: Duration?) async throws {
        let key = Array(userID.utf8)
        var newest: Int64?
        if let timeout {
            let engine = try open(userID)
            newest = try engine.newestRejectedWrite
            try await engine.waitForUploadWithFiles(timeout: timeout)
        }
        if let engine = try beginSignOut(key, mustBeOpen: timeout != nil) {
            try await end(engine, key) { engine in
                guard let newest else { return engine.store.close() }
                try engine.store.close { try Self.checkNothingPending(after: newest, $0) }
            }
        }
        defer { places.withLock { $0[key] = nil } }
        try UserFolder(of: userID, in: directory).remove()
    }

    /// Blocks the user's sign-in until the sign-out has ended.
    private func beginSignOut(_ key: [UInt8], mustBeOpen: Bool) throws -> SyncEngine? {
        try places.withLock { places in
            switch places[key] {
            case .open(let engine):
                places[key] = .ending
                return engine
            case nil where !mustBeOpen:
                places[key] = .ending
                return nil
            case .ending, nil: throw Self.isEnding
            }
        }
    }

    private static func checkNothingPending(
        after newest: Int64, _ transaction: ReadTransaction
    ) throws {
        guard try AwaitedRecords(transaction: transaction).isEmpty([.pending], in: nil) else {
            throw SyncError(
                .timedOut,
                "changes of paused documents, behind a foreign version, or new ones, are not sent")
        }
        let rejectedWrites = RejectedWriteTable(connection: transaction.connection)
        guard try !rejectedWrites.hasReverted(after: newest) else {
            throw SyncError(
                .timedOut, "rejected writes wait for the app to retry or discard them")
        }
    }
}
