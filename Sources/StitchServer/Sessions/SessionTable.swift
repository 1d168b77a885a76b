internal import BSONStore

/// Holds the logical sessions that clients use.
final class SessionTable: Sendable {
    /// One session.
    struct Session: Sendable {
        let document: BSONDocument
        var lastUsed: ContinuousClock.Instant
    }

    private let timeout: Duration
    private let sessions = Locked<[[UInt8]: Session]>([:])

    init(timeoutMinutes: Int) { timeout = .seconds(timeoutMinutes * 60) }

    /// The bytes that stand for a session.
    static func key(_ session: BSONDocument) -> [UInt8] {
        guard case .binary(let id) = session["id"] else { return [] }
        return id.bytes
    }

    /// Notes that a session is used; one that is not known begins.
    func touch(_ session: BSONDocument) {
        sessions.withLock { sessions in
            sessions[Self.key(session)] = Session(document: session, lastUsed: .now)
        }
    }

    /// Ends sessions, whether they are known or not.
    func end(_ ended: [BSONDocument]) {
        sessions.withLock { sessions in
            for session in ended { sessions[Self.key(session)] = nil }
        }
    }

    /// Ends the sessions that were not used for too long.
    func endIdle() -> [BSONDocument] {
        let limit = ContinuousClock.now - timeout
        return sessions.withLock { sessions in
            let idle = sessions.filter { $0.value.lastUsed < limit }
            for key in idle.keys { sessions[key] = nil }
            return idle.values.map(\.document)
        }
    }

    /// All sessions.
    var all: [Session] { sessions.withLock { Array($0.values) } }
}

extension StoreBackend {
    /// Ends sessions with what belongs to them.
    func end(_ ended: [BSONDocument]) {
        sessions.end(ended)
        for session in ended {
            cursors.kill(session: session)
            transactions.forget(SessionTable.key(session))
        }
    }
}
