internal import BSONStore

/// The keys of an identity provider.
///
/// Keys of an address are kept in memory. A token whose key is unknown has them fetched again, at most
/// once in ``pause``, and its client waits for the answer without occupying a thread. A failed fetch
/// leaves the keys as they are.
final class ProviderKeys: Sendable {
    /// A download; the closure is called once with the content or an error, on any thread.
    typealias Download =
        @Sendable (KeyAddress, @escaping @Sendable (Result<[UInt8], any Error>) -> Void) -> Void

    private struct State: Sendable {
        var keys: [WebKey] = []
        var lastAttempt: ContinuousClock.Instant?
        var isFetching = false
        /// The calls for the end of the fetch, by their numbers.
        var callbacks: [Int: @Sendable () -> Void] = [:]
        var lastCallback = 0
    }

    /// The time between two attempts to fetch the keys.
    static let pause: Duration = .seconds(60)
    /// The age at which keys that are in use are fetched again, since the provider may revoke one.
    static let ageMax: Duration = .seconds(3_600)

    let provider: TokenProvider
    private let log: ServerLog
    private let download: Download
    private let now: @Sendable () -> ContinuousClock.Instant
    private let state = Locked(State())

    /// - Parameters:
    ///   - download: fetches the keys of an address.
    ///   - now: the current time.
    init(
        _ provider: TokenProvider, _ log: ServerLog,
        download: @escaping Download = ProviderKeys.usualDownload,
        now: @escaping @Sendable () -> ContinuousClock.Instant = { .now }
    ) {
        self.provider = provider
        self.log = log
        self.download = download
        self.now = now
    }

    #if Server
        static let usualDownload: Download = { KeyDownload.start($0, then: $1) }
    #else
        static let usualDownload: Download = { _, end in end(.failure(KeyDownloadError.noServer)) }
    #endif

    /// Begins to fetch the keys of an address, for the first tokens; does not wait.
    func prefetch() {
        if case .address(let address) = provider.keys { fetchIfDue(address, after: Self.pause) }
    }

    /// Returns the keys that may have signed a token.
    ///
    /// - Parameter mayWait: whether the caller can wait for keys.
    /// - Throws: `AwaitedKeys` while the keys are being fetched that may include the token's; the
    ///   error of a file that cannot be read.
    func keys(for token: WebToken, mayWait: Bool) throws -> [WebKey] {
        switch provider.keys {
        case .file(let path): return try WebKey.keys(inFile: path)
        case .address(let address):
            let known = state.withLock { $0.keys }
            if Self.isKnown(token, known) {
                fetchIfDue(address, after: Self.ageMax)
                return known
            }
            guard mayWait else { return known }
            fetchIfDue(address, after: Self.pause)
            // The fetch may have ended already.
            let (latest, isFetching) = state.withLock { ($0.keys, $0.isFetching) }
            guard isFetching, !Self.isKnown(token, latest) else { return latest }
            throw AwaitedKeys { [self] body in subscribe(body) }
        }
    }

    private static func isKnown(_ token: WebToken, _ keys: [WebKey]) -> Bool {
        guard let id = token.keyID else { return !keys.isEmpty }
        return keys.contains { $0.id.hasSameBytes(as: id) }
    }

    /// Begins a fetch, unless one is under way or the last one began less than a time ago.
    private func fetchIfDue(_ address: KeyAddress, after pause: Duration) {
        let time = now()
        let isDue = state.withLock { state in
            guard !state.isFetching, state.lastAttempt.map({ $0 + pause <= time }) ?? true else {
                return false
            }
            state.isFetching = true
            state.lastAttempt = time
            return true
        }
        guard isDue else { return }
        download(address) { [self] result in end(result, address) }
    }

    private func end(_ result: Result<[UInt8], any Error>, _ address: KeyAddress) {
        let fetched: Result<[WebKey], any Error> = result.flatMap { bytes in
            guard let keys = WebKey.keys(in: bytes) else {
                return .failure(KeyDownloadError.malformed)
            }
            guard !keys.isEmpty else { return .failure(KeyDownloadError.empty) }
            guard keys.count <= KeyDownloadError.keysMax else {
                return .failure(KeyDownloadError.tooMany)
            }
            return .success(keys)
        }
        let (callbacks, count) = state.withLock { state in
            if case .success(let keys) = fetched { state.keys = keys }
            state.isFetching = false
            defer { state.callbacks = [:] }
            return (Array(state.callbacks.values), state.keys.count)
        }
        switch fetched {
        case .success:
            log.write(.info, "fetched \(count) keys of the token provider \(provider.title)")
        case .failure(let error):
            log.write(
                .warning,
                "cannot fetch the keys of the token provider \(provider.title) from "
                    + "\(address.text): \(error); its \(count) known keys stay")
        }
        for callback in callbacks { callback() }
    }

    private func subscribe(_ body: @escaping @Sendable () -> Void) -> @Sendable () -> Void {
        let number = state.withLock { state -> Int? in
            guard state.isFetching else { return nil }
            state.lastCallback += 1
            state.callbacks[state.lastCallback] = body
            return state.lastCallback
        }
        guard let number else {
            body()
            return {}
        }
        return { [self] in state.withLock { $0.callbacks[number] = nil } }
    }
}

/// A sign-in has to wait for the keys of an identity provider.
struct AwaitedKeys: Error {
    /// The longest wait, a little more than the time limit of the download.
    static let limit: Duration = .seconds(12)

    /// Calls back once when the fetch has ended.
    let subscribe: CommandWait.Subscription
}
