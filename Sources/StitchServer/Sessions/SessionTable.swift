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

    /// The bytes that stand for a session: its id, and its user's where there is one.
    static func key(_ session: BSONDocument) -> [UInt8] {
        bytes(session["id"]) + bytes(session["uid"])
    }

    /// Whether a session has an id, a UUID: with longer ones it could stand for a stranger's.
    static func hasID(_ session: BSONDocument) -> Bool {
        guard case .binary(let id) = session["id"] else { return false }
        return id.subtype == 4 && id.bytes.count == 16
    }

    /// The sessions that a command names.
    static func sessions(_ named: BSONArray?) -> [BSONDocument] {
        (named ?? []).compactMap(\.documentValue).filter(hasID)
    }

    /// A session as its user's own.
    ///
    /// Events of a change stream name the sessions of transactions: nobody may go on with somebody
    /// else's, nor be answered again what another user was.
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

    /// What names the user of a session in it.
    static func userID(_ user: SignedInUser) throws(CommandFailure) -> BSONValue {
        let name = Array("\(user.name)@\(user.database)".utf8)
        return .binary(BSONBinary(try DigestAlgorithm.sha256.sum(name)))
    }

    private static func bytes(_ value: BSONValue?) -> [UInt8] {
        guard case .binary(let binary) = value else { return [] }
        return binary.bytes
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
