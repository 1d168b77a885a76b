public import BSONStore

/// Keeps one store per user, so that nobody sees another's documents.
///
/// Changes that were not sent stay with their user until the user signs in again.
public final class UserStores: Sendable {
    /// Makes a user's remote; called once per sign-in.
    public typealias MakeRemote = @Sendable (_ userID: String) throws -> any Remote

    private let directory: String
    private let options: DocumentStore.Options
    private let makeRemote: MakeRemote
    private let initialSubscriptions: InitialSubscriptions?
    /// By the bytes of the ids: texts that look alike are not one user.
    private let engines = Locked<[[UInt8]: SyncEngine]>([:])

    /// Keeps stores below a directory, which is made with the first of them.
    ///
    /// - Parameter initialSubscriptions: what each user's store begins with.
    public init(
        directory: String, options: DocumentStore.Options = .init(),
        initialSubscriptions: InitialSubscriptions? = nil, makeRemote: @escaping MakeRemote
    ) {
        self.initialSubscriptions = initialSubscriptions
        self.directory = directory
        self.options = options
        self.makeRemote = makeRemote
    }

    /// Opens a user's store, or gives the engine that is open already and has it sync at once.
    ///
    /// - Throws: `SyncError` of code `.storeFailed` for an empty user id; `StoreError` when the
    ///   store cannot be opened; what making its folder or the remote throws.
    public func signIn(_ userID: String) throws -> SyncEngine {
        guard !userID.isEmpty else { throw SyncError(.storeFailed, "a user id cannot be empty") }
        return try engines.withLock { engines in
            if let engine = engines[Array(userID.utf8)] {
                engine.noteSignIn()
                return engine
            }
            let folder = UserFolder(of: userID, in: directory)
            try folder.make()
            let store = try DocumentStore(at: .file(folder.storePath), options: options)
            let engine = try SyncEngine(
                store: store, remote: try makeRemote(userID),
                initialSubscriptions: initialSubscriptions)
            engines[Array(userID.utf8)] = engine
            return engine
        }
    }

    /// The users that have a store here, signed in or not, in order.
    ///
    /// - Throws: what the file system says.
    public func userIDs() throws -> [String] {
        try UserFolder.userIDs(in: directory)
    }

    /// Ends a user's sync and keeps the store for the next sign-in.
    ///
    /// ``SyncEngine/run()`` is to be cancelled before.
    ///
    /// - Throws: as ``SyncEngine/release()``; the user's engine stays as it is then.
    public func close(_ userID: String) async throws {
        try await close(userID) { engine in engine.store.close() }
    }

    /// Closes a user's engine by closing its store, where the closing does not throw.
    private func close(
        _ userID: String, closing: (SyncEngine) throws -> Void
    ) async throws {
        let key = Array(userID.utf8)
        guard let engine = engines.withLock({ $0.removeValue(forKey: key) }) else { return }
        do {
            try await engine.release()
            try closing(engine)
        } catch {
            // It is still open, and has the right to sync the file.
            engines.withLock { if $0[key] == nil { $0[key] = engine } }
            throw error
        }
        // Whoever waits for documents learns that they will not come.
        engine.wake()
    }

    /// Signs a user out: sends what waits, then deletes the user's local documents, not the remote's.
    ///
    /// ``SyncEngine/run()`` is to be cancelled before. What another process writes to the store at the
    /// same time is not waited for.
    ///
    /// - Parameter timeout: how long to wait for changes to be sent; `nil` to send none, which loses
    ///   them.
    /// - Throws: `SyncError` of code `.timedOut` when not all was sent in time, when a change waits
    ///   for the app, in a paused document for example, when something is written meanwhile, or when a
    ///   write is refused meanwhile, or was before and nobody was told: then the user stays signed in
    ///   and nothing is deleted.
    public func signOut(_ userID: String, waitingForUpload timeout: Duration?) async throws {
        if let timeout {
            let engine = try signIn(userID)
            let newest = try engine.newestRejectedWrite
            try await engine.waitForUpload(timeout: timeout)
            try await close(userID) { engine in
                try engine.store.close { transaction in
                    try Self.checkNothingWaits(after: newest, transaction)
                }
            }
        } else {
            try await close(userID)
        }
        try UserFolder(of: userID, in: directory).remove()
    }

    private static func checkNothingWaits(
        after newest: Int64, _ transaction: ReadTransaction
    ) throws {
        guard try transaction.isEmpty([.pending], in: nil) else {
            throw SyncError(
                .timedOut,
                "changes of paused documents, behind a foreign version, or new ones, are not sent")
        }
        let records = SyncRecords(connection: transaction.connection)
        guard try !records.hasRejections(after: newest) else {
            throw SyncError(
                .timedOut, "rejected writes wait for the app to retry or discard them")
        }
    }
}
