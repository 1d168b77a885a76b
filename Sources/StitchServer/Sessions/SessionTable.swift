internal import BSONStore

/// The logical sessions in use.
final class SessionTable: Sendable {
    /// One session.
    struct Session: Sendable {
        let document: BSONDocument
        var lastUsed: ContinuousClock.Instant
    }

    private let timeout: Duration
    private let sessions = Locked<[[UInt8]: Session]>([:])

    init(timeoutMinutes: Int) { timeout = .seconds(timeoutMinutes * 60) }

    /// Returns the key of a session: its id, and its user's id if it has one.
    static func key(_ session: BSONDocument) -> [UInt8] {
        bytes(session["id"]) + bytes(session["uid"])
    }

    /// Whether the session id is a UUID; a longer id could imitate the key of another user's
    /// session.
    static func hasID(_ session: BSONDocument) -> Bool {
        guard case .binary(let id) = session["id"] else { return false }
        return id.subtype == 4 && id.bytes.count == 16
    }

    /// Returns the sessions that a command names.
    static func sessions(_ named: BSONArray?) -> [BSONDocument] {
        (named ?? []).compactMap(\.documentValue).filter(hasID)
    }

    /// Returns a session with the id of its user added.
    ///
    /// Change events contain the session ids of transactions. Without the user's id, another user
    /// could continue such a session, or get the replies to its retried writes.
    ///
    /// Source: MongoDB's `LogicalSessionId`, whose `uid` is the SHA-256 of the user's name.
    static func own(
        _ session: BSONDocument, of user: SignedInUser?
    ) throws(CommandFailure) -> BSONDocument {
        var own = BSONDocument()
        if let id = session["id"] { own.append("id", id) }
        if let user {
            own.append("uid", try userID(user))
        }
        return own
    }

    /// Returns the user's id as a session holds it.
    static func userID(_ user: SignedInUser) throws(CommandFailure) -> BSONValue {
        let name = Array("\(user.name)@\(user.database)".utf8)
        return .binary(BSONBinary(try DigestAlgorithm.sha256.sum(name)))
    }

    private static func bytes(_ value: BSONValue?) -> [UInt8] {
        guard case .binary(let binary) = value else { return [] }
        return binary.bytes
    }

    /// Records the use of a session; an unknown session starts.
    func touch(_ session: BSONDocument) {
        sessions.withLock { sessions in
            sessions[Self.key(session)] = Session(document: session, lastUsed: .now)
        }
    }

    /// Removes sessions, known or not.
    func end(_ ended: [BSONDocument]) {
        sessions.withLock { sessions in
            for session in ended { sessions[Self.key(session)] = nil }
        }
    }

    /// Removes and returns the sessions that have been idle for too long.
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
