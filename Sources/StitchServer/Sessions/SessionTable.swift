internal import BSONStore

/// The logical sessions in use.
final class SessionTable: Sendable {
    /// The client that began a session, for people.
    struct Owner: Sendable {
        /// The name of the user, as `name@database`; `nil` without one.
        var user: String?
        /// The name of the app; `nil` if it has none.
        var application: String?
    }

    /// One session.
    struct Session: Sendable {
        let document: BSONDocument
        let owner: Owner
        var lastUsed: ContinuousClock.Instant
        /// The last use by the calendar.
        var lastUse: BSONDatetime

        /// The session as a stage lists it.
        var entry: BSONDocument {
            var entry: BSONDocument = [
                "_id": .document(document), "lastUse": .datetime(lastUse),
            ]
            if let user = owner.user { entry.append("user", .string(user)) }
            if let application = owner.application {
                entry.append("appName", .string(application))
            }
            return entry
        }
    }

    private struct State: Sendable {
        var sessions: [[UInt8]: Session] = [:]
        /// The number of sessions of each signed-in user, by the user's id.
        var counts: [[UInt8]: Int] = [:]

        mutating func set(_ session: BSONDocument, _ new: Session?) {
            let owner = SessionTable.bytes(session["uid"])
            let key = SessionTable.key(session)
            let before = sessions[key]
            sessions[key] = new
            guard !owner.isEmpty else { return }
            let change = (new == nil ? 0 : 1) - (before == nil ? 0 : 1)
            let count = counts[owner, default: 0] + change
            counts[owner] = count == 0 ? nil : count
        }
    }

    private let timeout: Duration
    private let state = Locked(State())

    /// The largest number of sessions; MongoDB's parameter `maxSessions`.
    private static let countMax = 1_000_000
    /// The largest number of sessions of one signed-in user.
    private static let countOfUserMax = 50_000

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

    /// Returns a session with the id of its user added.
    ///
    /// Change events contain the session ids of transactions. Without the user's id, another user
    /// could continue such a session, or get the replies to its retried writes.
    ///
    /// Source: MongoDB's `LogicalSessionId`, whose `uid` is the SHA-256 of the user's name.
    static func own(
        _ session: BSONDocument, of user: SignedInUser?
    ) throws(CommandFailure) -> BSONDocument {
        guard let user else { return own(session, ofID: nil) }
        return own(session, ofID: try userID(user))
    }

    /// Returns a session with the id of its user added; `nil` for no user.
    static func own(_ session: BSONDocument, ofID userID: BSONValue?) -> BSONDocument {
        var own = BSONDocument()
        if let id = session["id"] { own.append("id", id) }
        if let userID { own.append("uid", userID) }
        return own
    }

    /// Returns the user's id as a session holds it.
    static func userID(_ user: SignedInUser) throws(CommandFailure) -> BSONValue {
        try userID(name: user.name.text, database: user.database.text)
    }

    /// Returns the id of a user with a name.
    ///
    /// The name and the database can both contain "@", and no name of a database contains a dot.
    static func userID(name: String, database: String) throws(CommandFailure) -> BSONValue {
        .binary(BSONBinary(try DigestAlgorithm.sha256.sum(Array(User.id(name, database).utf8))))
    }

    /// Returns the bytes of an id in a session; none for another value.
    static func bytes(_ value: BSONValue?) -> [UInt8] {
        guard case .binary(let binary) = value else { return [] }
        return binary.bytes
    }

    /// Records the use of a session; an unknown session starts.
    ///
    /// - Parameter owner: the client, which only a session that starts asks for.
    /// - Throws: 261 (TooManyLogicalSessions).
    func touch(
        _ session: BSONDocument, of owner: @autoclosure () -> Owner = Owner()
    ) throws(CommandFailure) {
        let isRoom = state.withLock { state in
            let ofUser = state.counts[Self.bytes(session["uid"])] ?? 0
            guard
                ofUser < Self.countOfUserMax && state.sessions.count < Self.countMax
                    || state.sessions[Self.key(session)] != nil
            else { return false }
            let known = state.sessions[Self.key(session)]
            state.set(
                session,
                Session(
                    document: session, owner: known?.owner ?? owner(), lastUsed: .now,
                    lastUse: .now))
            return true
        }
        guard isRoom else {
            throw CommandFailure(
                261, "cannot start another session: end some, or wait until idle ones have ended")
        }
    }

    /// Removes a session, known or not.
    func end(_ session: BSONDocument) { state.withLock { $0.set(session, nil) } }

    /// Removes and returns the sessions that have been idle for too long.
    func endIdle() -> [BSONDocument] {
        let limit = ContinuousClock.now - timeout
        return state.withLock { state in
            let idle = state.sessions.values.filter { $0.lastUsed < limit }.map(\.document)
            for session in idle { state.set(session, nil) }
            return idle
        }
    }

    /// All sessions.
    var all: [Session] { state.withLock { Array($0.sessions.values) } }
}
