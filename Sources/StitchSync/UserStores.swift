public import BSONStore

#if canImport(FoundationEssentials)
    internal import FoundationEssentials
#else
    internal import Foundation
#endif

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
    private let engines = Locked<[String: SyncEngine]>([:])

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
    ///   store cannot be opened; what making the remote throws.
    public func signIn(_ userID: String) throws -> SyncEngine {
        guard !userID.isEmpty else { throw SyncError(.storeFailed, "a user id cannot be empty") }
        return try engines.withLock { engines in
            if let engine = engines[userID] {
                engine.noteSignIn()
                return engine
            }
            let store = try DocumentStore(at: .file(path(userID)), options: options)
            let engine = try SyncEngine(
                store: store, remote: try makeRemote(userID),
                initialSubscriptions: initialSubscriptions)
            engines[userID] = engine
            return engine
        }
    }

    /// The users that have a store here, signed in or not, in order.
    public func userIDs() throws -> [String] {
        guard FileManager.default.fileExists(atPath: directory) else { return [] }
        return try FileManager.default.contentsOfDirectory(atPath: directory)
            .compactMap(Self.userID).sorted()
    }

    /// Ends a user's sync and keeps the store for the next sign-in.
    ///
    /// ``SyncEngine/run()`` is to be cancelled before.
    public func close(_ userID: String) async throws {
        guard let engine = engines.withLock({ $0.removeValue(forKey: userID) }) else { return }
        try await engine.release()
        engine.store.close()
        // Whoever waits for documents learns that they will not come.
        engine.wake()
    }

    /// Signs a user out: sends what waits, then deletes the user's local documents, not the remote's.
    ///
    /// ``SyncEngine/run()`` is to be cancelled before.
    ///
    /// - Parameter timeout: how long to wait for changes to be sent; `nil` to send none, which loses
    ///   them.
    /// - Throws: `SyncError` of code `.timedOut` when not all was sent in time, or when a change waits
    ///   for the app, in a paused document for example: then the user stays signed in and nothing is
    ///   deleted.
    public func signOut(_ userID: String, waitingForUpload timeout: Duration?) async throws {
        if let timeout {
            let engine = try signIn(userID)
            try await engine.waitForUpload(timeout: timeout)
            guard try engine.isEmpty([.pending], in: nil) else {
                throw SyncError(
                    .timedOut,
                    "changes of paused documents, or behind a foreign version, are not sent")
            }
        }
        try await close(userID)
        let folder = folder(userID)
        if FileManager.default.fileExists(atPath: folder) {
            try FileManager.default.removeItem(atPath: folder)
        }
    }

    private func folder(_ userID: String) -> String {
        directory + "/" + Self.prefix + Self.hex(userID)
    }

    private func path(_ userID: String) -> String { folder(userID) + "/documents.db" }

    private static let prefix = "user-"

    /// The id in letters that every file system takes and tells apart.
    private static func hex(_ userID: String) -> String {
        userID.utf8.map { byte in
            let digits = String(byte, radix: 16)
            return digits.count == 1 ? "0" + digits : digits
        }.joined()
    }

    private static func userID(_ name: String) -> String? {
        guard name.hasPrefix(prefix) else { return nil }
        let digits = Array(name.utf8.dropFirst(prefix.utf8.count))
        guard digits.count.isMultiple(of: 2) else { return nil }
        let bytes = stride(from: 0, to: digits.count, by: 2).compactMap { at in
            UInt8(String(decoding: digits[at..<at + 2], as: UTF8.self), radix: 16)
        }
        guard bytes.count * 2 == digits.count else { return nil }
        return String(validating: bytes, as: UTF8.self)
    }
}
