internal import BSONStore

/// The logical sessions in use.
final class SessionTable: Sendable {
    /// The client that began a session.
    struct Owner: Sendable {
        /// The name of the user, as `name@database`; `nil` without one.
        var user: String?
        /// The name of the app; `nil` if it has none.
        var application: String?
        /// The key of the user, or of the address, among whose sessions it counts
        /// (``ClientConnection/owner``).
        var share: [UInt8] = []
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
        private(set) var sessions: [[UInt8]: Session] = [:]
        /// The keys of the sessions of each user or address.
        private(set) var owners: [[UInt8]: UseOrder<[UInt8]>] = [:]
        /// The sessions that gave way to others and have not been reported yet.
        var pushedOut: [BSONDocument] = []

        /// Adds a session, or notes its use.
        mutating func use(_ key: [UInt8], _ session: Session) {
            sessions[key] = session
            owners[session.owner.share, default: UseOrder()].use(key)
        }

        @discardableResult
        mutating func remove(_ key: [UInt8]) -> Session? {
            guard let session = sessions.removeValue(forKey: key) else { return nil }
            let share = session.owner.share
            owners[share]?.remove(key)
            if owners[share]?.count == 0 { owners[share] = nil }
            return session
        }

        /// Removes the least recently used session of the user or address with most.
        mutating func pushOut() {
            let most = owners.max { $0.value.count < $1.value.count }?.key
            guard let most, let key = owners[most]?.oldest(), let session = remove(key) else {
                return
            }
            pushedOut.append(session.document)
        }
    }

    private let timeout: Duration
    private let countMax: Int
    private let countOfOneMax: Int
    private let state = Locked(State())

    /// Creates an empty table.
    ///
    /// - Parameters:
    ///   - countMax: the largest number of sessions; MongoDB's parameter `maxSessions`.
    ///   - countOfOneMax: the largest number of one user, or of one address where clients do not sign in
    ///     or are anonymous.
    init(timeoutMinutes: Int, countMax: Int = 1_000_000, countOfOneMax: Int = 50_000) {
        timeout = .seconds(timeoutMinutes * 60)
        self.countMax = countMax
        self.countOfOneMax = countOfOneMax
    }

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
    /// If there are too many in all, the least recently used one of the user or address with most
    /// ends for it.
    ///
    /// - Parameter owner: the client, which only a session that starts asks for.
    /// - Throws: 261 (TooManyLogicalSessions) if the user or address has too many.
    func touch(
        _ session: BSONDocument, of owner: @autoclosure () -> Owner = Owner()
    ) throws(CommandFailure) {
        let key = Self.key(session)
        let isRoom = state.withLock { state in
            if var known = state.sessions[key] {
                (known.lastUsed, known.lastUse) = (.now, .now)
                state.use(key, known)
                return true
            }
            let owner = owner()
            guard state.owners[owner.share]?.count ?? 0 < countOfOneMax else { return false }
            if state.sessions.count >= countMax { state.pushOut() }
            state.use(
                key, Session(document: session, owner: owner, lastUsed: .now, lastUse: .now))
            return true
        }
        guard isRoom else {
            throw CommandFailure(
                261, "cannot start another session: end some, or wait until idle ones have ended")
        }
    }

    /// Removes a session, known or not.
    func end(_ session: BSONDocument) {
        let key = Self.key(session)
        state.withLock { _ = $0.remove(key) }
    }

    /// Removes and returns the sessions that have been idle for too long, and returns those that gave
    /// way to others since the last call.
    func endIdle() -> [BSONDocument] {
        let limit = ContinuousClock.now - timeout
        return state.withLock { state in
            let idle = state.sessions.filter { $0.value.lastUsed < limit }
            for key in idle.keys { state.remove(key) }
            defer { state.pushedOut = [] }
            return idle.values.map(\.document) + state.pushedOut
        }
    }

    /// All sessions.
    var all: [Session] { state.withLock { Array($0.sessions.values) } }
}
