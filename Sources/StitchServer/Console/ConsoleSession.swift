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

    init(_ connection: ClientConnection) {
        id = ScramCredential.newSecret()
        csrf = ScramCredential.newSecret()
        self.connection = connection
    }

    /// Notes a use.
    func touch() { connection.state.withLock { $0.lastUsed = .now } }

    /// The time since the last use.
    var idle: Duration { ContinuousClock.now - connection.state.withLock { $0.lastUsed } }
}

/// The browsers that are signed in.
final class ConsoleSessions: Sendable {
    /// The maximum number; a further one ends the one that was used least recently.
    static let countMax = 64
    /// The time after which an unused session ends.
    static let idleMax: Duration = .seconds(1_800)

    private let sessions = Locked<[ConsoleSession]>([])
    private let ended: @Sendable (ConsoleSession) -> Void

    /// - Parameter ended: is called for each session that ends.
    init(ended: @escaping @Sendable (ConsoleSession) -> Void) { self.ended = ended }

    func add(_ session: ConsoleSession) {
        let old = sessions.withLock { sessions -> [ConsoleSession] in
            var old = sessions.filter { $0.idle > Self.idleMax }
            sessions.removeAll { $0.idle > Self.idleMax }
            if sessions.count >= Self.countMax,
                let least = sessions.indices.max(by: { sessions[$0].idle < sessions[$1].idle })
            {
                old.append(sessions.remove(at: least))
            }
            sessions.append(session)
            return old
        }
        for session in old { ended(session) }
    }

    /// Returns the session of a cookie, and notes its use; the time of the search does not tell how much
    /// of the cookie is right.
    func session(_ id: String) -> ConsoleSession? {
        let given = Array(id.utf8)
        let found = sessions.withLock { sessions in
            sessions.filter { SHA256.areEqual(Array($0.id.utf8), given) }
        }.first { $0.idle <= Self.idleMax }
        found?.touch()
        return found
    }

    /// Whether a session has not ended.
    func holds(_ session: ConsoleSession) -> Bool {
        sessions.withLock { sessions in sessions.contains { $0 === session } }
            && session.idle <= Self.idleMax
    }

    func remove(_ session: ConsoleSession) {
        sessions.withLock { sessions in sessions.removeAll { $0 === session } }
        ended(session)
    }
}
