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
    /// Who is signed in, by the bytes of the ids: texts that look alike are not one user.
    private let places = Locked<[[UInt8]: Place]>([:])

    /// What a user has here.
    private enum Place {
        case open(SyncEngine)
        /// Is being closed or deleted: another engine of the same file would be deleted with it.
        case ending
    }

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
    /// - Throws: `SyncError` of code `.storeFailed` for an empty user id, of code `.storeInUse` while
    ///   the user is being signed out or closed; `StoreError` when the store cannot be opened; what
    ///   making its folder or the remote throws.
    public func signIn(_ userID: String) throws -> SyncEngine {
        guard !userID.isEmpty else { throw SyncError(.storeFailed, "a user id cannot be empty") }
        return try places.withLock { places in
            switch places[Array(userID.utf8)] {
            case .open(let engine):
                engine.noteSignIn()
                return engine
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
        let key = Array(userID.utf8)
        let engine: SyncEngine? = places.withLock { places in
            guard case .open(let engine) = places[key] else { return nil }
            places[key] = .ending
            return engine
        }
        guard let engine else { return }
        try await end(engine, key) { $0.store.close() }
        places.withLock { $0[key] = nil }
    }

    /// Closes the store of a user whose place is ending; the user stays where the closing throws.
    private func end(
        _ engine: SyncEngine, _ key: [UInt8], closing: (SyncEngine) throws -> Void
    ) async throws {
        do {
            try await engine.release()
            try closing(engine)
        } catch {
            // It is still open, and has the right to sync the file.
            places.withLock { $0[key] = .open(engine) }
            throw error
        }
        engine.noteClosed()
    }

    private static var isEnding: SyncError {
        SyncError(.storeInUse, "the user is being signed out or closed")
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
    ///   and nothing is deleted. `SyncError` of code `.storeInUse` when the user is being signed out
    ///   or closed by somebody else.
    public func signOut(_ userID: String, waitingForUpload timeout: Duration?) async throws {
        let key = Array(userID.utf8)
        var newest: Int64?
        if let timeout {
            let engine = try signIn(userID)
            newest = try engine.newestRejectedWrite
            try await engine.waitForUpload(timeout: timeout)
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

    /// Lets nobody sign a user in until the sign-out has ended.
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
        guard try transaction.isEmpty([.pending], in: nil) else {
            throw SyncError(
                .timedOut,
                "changes of paused documents, behind a foreign version, or new ones, are not sent")
        }
        let records = SyncRecordTable(connection: transaction.connection)
        guard try !records.hasRejections(after: newest) else {
            throw SyncError(
                .timedOut, "rejected writes wait for the app to retry or discard them")
        }
    }
}
