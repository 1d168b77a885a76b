internal import BSONStore

/// A browser that is signed in to the console, with a connection of its own to the server.
///
/// Its commands run as those of a driver on that connection: with the user's roles, in the log and in the
/// metrics.
final class ConsoleSession: Sendable {
    /// The value of the cookie.
    let id: String
    /// The value of the header that every change needs, which other sites cannot read.
    let csrf: String
    let connection: ClientConnection
    /// The last use by a person; not by a command, since pages send some by themselves.
    private let lastUsed: Locked<ContinuousClock.Instant>

    init(_ connection: ClientConnection, at time: ContinuousClock.Instant = .now) {
        id = ScramCredential.newSecret()
        csrf = ScramCredential.newSecret()
        self.connection = connection
        lastUsed = Locked(time)
    }

    /// Notes a use.
    func touch(at time: ContinuousClock.Instant) { lastUsed.withLock { $0 = time } }

    /// Returns the time since the last use.
    func idle(at time: ContinuousClock.Instant) -> Duration { time - lastUsed.withLock { $0 } }
}

/// The browsers that are signed in.
final class ConsoleSessions: Sendable {
    /// The maximum number; a further one ends the one that was used least recently.
    static let countMax = 64
    /// The time after which an unused session ends.
    static let idleMax: Duration = .seconds(1_800)

    private let sessions = Locked<[ConsoleSession]>([])
    private let ended: @Sendable (ConsoleSession) -> Void
    private let now: @Sendable () -> ContinuousClock.Instant

    /// - Parameters:
    ///   - ended: is called for each session that ends.
    ///   - now: returns the time.
    init(
        ended: @escaping @Sendable (ConsoleSession) -> Void,
        now: @escaping @Sendable () -> ContinuousClock.Instant = { .now }
    ) {
        (self.now, self.ended) = (now, ended)
    }

    func add(_ session: ConsoleSession) {
        let now = self.now()
        let old = sessions.withLock { sessions -> [ConsoleSession] in
            var old = sessions.filter { $0.idle(at: now) > Self.idleMax }
            sessions.removeAll { $0.idle(at: now) > Self.idleMax }
            if sessions.count >= Self.countMax,
                let least = sessions.indices.max(by: {
                    sessions[$0].idle(at: now) < sessions[$1].idle(at: now)
                })
            {
                old.append(sessions.remove(at: least))
            }
            sessions.append(session)
            return old
        }
        for session in old { ended(session) }
    }

    /// Returns the session of a cookie; the time of the search does not tell how much of the cookie
    /// is right.
    ///
    /// - Parameter isUse: whether a person uses the session, and not a page by itself.
    func session(_ id: String, isUse: Bool) -> ConsoleSession? {
        let now = self.now()
        let given = Array(id.utf8)
        let found = sessions.withLock { sessions in
            sessions.filter { SHA256.areEqual(Array($0.id.utf8), given) }
        }.first { $0.idle(at: now) <= Self.idleMax }
        if isUse { found?.touch(at: now) }
        return found
    }

    /// Whether a session has not ended.
    func holds(_ session: ConsoleSession) -> Bool {
        sessions.withLock { sessions in sessions.contains { $0 === session } }
            && session.idle(at: now()) <= Self.idleMax
    }

    func remove(_ session: ConsoleSession) {
        sessions.withLock { sessions in sessions.removeAll { $0 === session } }
        ended(session)
    }
}
