internal import BSONStore

/// The cursors that clients have not read to the end.
final class CursorTable: Sendable {
    /// One cursor.
    struct Cursor: Sendable {
        let id: Int64
        let namespace: Namespace
        let session: BSONDocument?
        /// The owner.
        let owner: CursorOwner
        let options: CursorOptions
        var source: any CursorSource
        var lastUsed = ContinuousClock.now
        /// Whether a command is reading the cursor.
        var isPinned = false
        /// The reason why the cursor ended, while a command still reads it or until a reply reports
        /// it.
        var end: CommandFailure?

        /// Returns the cursor with an id.
        fileprivate func named(_ id: Int64) -> Cursor {
            Cursor(
                id: id, namespace: namespace, session: session, owner: owner, options: options,
                source: source, lastUsed: lastUsed, isPinned: isPinned, end: end)
        }
    }

    private struct State: Sendable {
        var cursors = CursorList()
        /// The callbacks of commands that wait for more documents, by cursor id.
        var wakes: [Int64: @Sendable () -> Void] = [:]
        var timedOut: Int64 = 0
        var generator = SystemRandomNumberGenerator()
    }

    private let timeout: Duration
    /// The maximum size of what all cursors keep in memory, in bytes.
    private let bytesMax: Int
    private let state = Locked(State())

    init(timeoutSeconds: Int, bytesMax: Int = .max) {
        timeout = .seconds(timeoutSeconds)
        self.bytesMax = bytesMax
    }

    /// Adds a cursor and returns its id, a positive random number.
    func add(
        _ source: any CursorSource, _ namespace: Namespace, _ session: BSONDocument?,
        of owner: CursorOwner, _ options: CursorOptions
    ) -> Int64 {
        state.withLock { state in
            let id = Self.add(
                &state,
                Cursor(
                    id: 0, namespace: namespace, session: session, owner: owner,
                    options: options, source: source))
            endExcess(&state)
            return id
        }
    }

    private static func add(_ state: inout State, _ cursor: Cursor) -> Int64 {
        var id: Int64 = 0
        while id <= 0 || state.cursors[id] != nil {
            id = Int64.random(in: 1...Int64.max, using: &state.generator)
        }
        state.cursors[id] = cursor.named(id)
        return id
    }

    /// The largest number of open cursors of one user that the deployment behind a gateway holds.
    static let forwardedMax = 1_000
    /// The time without a command after which such a cursor gives way to a new one.
    private static let forwardedIdleMax: Duration = .seconds(60)

    /// Adds a cursor of the deployment behind a gateway and returns its id, a positive random
    /// number.
    ///
    /// - Throws: 365 when the user, or the address of anonymous users, has too many that were in use
    ///   within the last minute.
    func addForwarded(
        _ source: any CursorSource, _ namespace: Namespace, _ session: BSONDocument?,
        of owner: CursorOwner, _ options: CursorOptions
    ) throws(CommandFailure) -> Int64 {
        try state.withLock { (state) throws(CommandFailure) in
            if state.cursors.forwarded(of: owner) >= Self.forwardedMax {
                guard let oldest = state.cursors.oldest(of: owner, where: { $0.isForwarded }),
                    oldest.lastUsed + Self.forwardedIdleMax < .now
                else {
                    throw CommandFailure(
                        365,
                        "\(Self.forwardedMax) cursors of this user are open, and no more may be; "
                            + "read results to the end, or close cursors")
                }
                state.cursors[oldest.id] = Self.ended(
                    oldest, "one user may have \(Self.forwardedMax) open cursors")
            }
            return Self.add(
                &state,
                Cursor(
                    id: 0, namespace: namespace, session: session, owner: owner,
                    options: options, source: source))
        }
    }

    /// Reserves a cursor for one command.
    ///
    /// - Throws: 43 (CursorNotFound), 12051 (CursorInUse), 13 for another namespace or user,
    ///   50736 to 50738 for another session.
    func pin(
        _ id: Int64, _ namespace: Namespace, _ session: BSONDocument?, by owner: CursorOwner
    ) throws(CommandFailure) -> Cursor {
        try state.withLock { (state) throws(CommandFailure) in
            guard var cursor = state.cursors[id], !cursor.isPinned || cursor.end == nil else {
                throw CommandFailure(43, "cursor id \(id) not found")
            }
            guard !cursor.isPinned else {
                throw CommandFailure(12051, "cursor id \(id) is already in use")
            }
            guard cursor.namespace == namespace else {
                throw CommandFailure(
                    13,
                    "Requested getMore on namespace '\(namespace)', but cursor belongs to a "
                        + "different namespace \(cursor.namespace)")
            }
            guard cursor.owner.isSameUser(as: owner) else {
                throw CommandFailure(
                    13, "cursor id \(id) was not created by the authenticated user")
            }
            try Self.check(cursor, session)
            if let end = cursor.end {
                state.cursors[id] = nil
                throw end
            }
            cursor.isPinned = true
            state.cursors[id] = cursor
            return cursor
        }
    }

    private static func check(
        _ cursor: Cursor, _ session: BSONDocument?
    ) throws(CommandFailure) {
        let (own, given) = (cursor.session, session)
        if own == nil, let given {
            throw CommandFailure(
                50737,
                "Cannot run getMore on cursor \(cursor.id), which was not created in a session, "
                    + "in session \(SessionText.text(given))")
        }
        if let own, given == nil {
            throw CommandFailure(
                50736,
                "Cannot run getMore on cursor \(cursor.id), which was created in session "
                    + "\(SessionText.text(own)), without an lsid")
        }
        if let own, let given, SessionTable.key(own) != SessionTable.key(given) {
            throw CommandFailure(
                50738,
                "Cannot run getMore on cursor \(cursor.id), which was created in session "
                    + "\(SessionText.text(own)), in session \(SessionText.text(given))")
        }
    }

    /// Releases a reserved cursor, or removes it at its end.
    func unpin(_ id: Int64, _ source: any CursorSource, isAtEnd: Bool) {
        state.withLock { state in
            guard var cursor = state.cursors[id] else { return }
            guard !isAtEnd, cursor.end == nil else {
                state.cursors[id] = nil
                return
            }
            cursor.source = source
            cursor.isPinned = false
            cursor.lastUsed = .now
            state.cursors[id] = cursor
            endExcess(&state)
        }
    }

    /// Ends cursors while all keep too much in memory: the least recently used ones of the user
    /// whose cursors keep most.
    ///
    /// One that ended is kept for its next command, and is removed when it is the oldest again.
    private func endExcess(_ state: inout State) {
        while state.cursors.memoryBytes > bytesMax, let oldest = state.cursors.oldestOfGreatest() {
            state.cursors[oldest.id] =
                oldest.end != nil
                ? nil
                : Self.ended(
                    oldest, "the open cursors of all users may keep \(bytesMax) bytes in memory")
        }
    }

    /// Ends the least recently used idle cursor of a user whose documents are in a file.
    ///
    /// - Returns: whether there was one.
    func endOldestSpooled(of owner: CursorOwner, _ limit: String) -> Bool {
        state.withLock { state in
            guard let oldest = state.cursors.oldest(of: owner, where: { $0.isSpooled }) else {
                return false
            }
            state.cursors[oldest.id] = Self.ended(oldest, limit)
            return true
        }
    }

    /// Returns a cursor without its documents, whose end its next command reports.
    private static func ended(_ cursor: Cursor, _ limit: String) -> Cursor {
        var cursor = cursor
        cursor.source = ListSource([])
        cursor.end = CommandFailure(
            237,
            "cursor id \(cursor.id) was ended, because \(limit); read results to the end, or "
                + "close cursors")
        return cursor
    }

    /// The size of what cursors keep in memory, in bytes.
    var memoryBytes: Int { state.withLock { $0.cursors.memoryBytes } }

    /// Calls back once when the awaited cursor ends; immediately if it has already ended.
    ///
    /// - Returns: a closure that unsubscribes.
    func onEnd(
        _ id: Int64, _ wake: @escaping @Sendable () -> Void
    ) -> @Sendable () -> Void {
        state.withLock { $0.wakes[id] = wake }
        // Checked after registering: a thread that ends the cursor meanwhile either finds the
        // callback or is noticed here.
        if end(of: id) != nil { self.wake([id]) }
        return { [self] in state.withLock { $0.wakes[id] = nil } }
    }

    private func wake(_ ids: [Int64]) {
        let wakes = state.withLock { state in
            ids.compactMap { state.wakes.removeValue(forKey: $0) }
        }
        for wake in wakes { wake() }
    }

    /// Ends a cursor of an owner, or of any owner for `nil`.
    ///
    /// A cursor being read ends afterwards; a waiting command is woken.
    ///
    /// - Returns: whether there was such a cursor.
    func kill(_ id: Int64, by owner: CursorOwner? = nil) -> Bool {
        let isKilled = state.withLock { state in
            guard var cursor = state.cursors[id], !cursor.isPinned || cursor.end == nil,
                owner.map(cursor.owner.isSameUser(as:)) ?? true
            else { return false }
            if cursor.isPinned {
                cursor.end = Self.killed
                state.cursors[id] = cursor
            } else {
                state.cursors[id] = nil
            }
            return true
        }
        if isKilled { wake([id]) }
        return isKilled
    }

    private static let killed = CommandFailure(
        237, "operation was interrupted because the cursor was killed")

    /// Returns why a cursor ended during its command; `nil` if it did not.
    func end(of id: Int64) -> CommandFailure? {
        state.withLock { state in
            guard let cursor = state.cursors[id] else { return Self.killed }
            return cursor.end
        }
    }

    /// Ends the cursors of dropped or renamed collections.
    ///
    /// The next `getMore` reports the reason. Change streams continue, since they report such
    /// changes as events.
    func end(_ faults: [Namespace: CommandFailure]) {
        guard !faults.isEmpty else { return }
        let ended = state.withLock { state in
            var ended: [Int64] = []
            for (id, cursor) in state.cursors.byID {
                guard let fault = faults[cursor.namespace], cursor.end == nil,
                    !cursor.source.survivesCollectionEnd
                else { continue }
                var cursor = cursor
                cursor.end = fault
                if !cursor.isPinned { cursor.source = ListSource([]) }
                state.cursors[id] = cursor
                ended.append(id)
            }
            return ended
        }
        wake(ended)
    }

    /// Ends the cursors of a session, at a cost that grows with these only.
    ///
    /// - Parameter session: the key of the session (``SessionTable/key(_:)``).
    /// - Throws: the end of the calling command's time.
    func kill(session: [UInt8]) throws(StoreError) {
        let ids = state.withLock { $0.cursors.ids(ofSession: session) }
        for id in ids {
            try WorkBudget.spend()
            _ = kill(id)
        }
    }

    /// Ends all cursors.
    func killAll() {
        let ids = state.withLock { Array($0.cursors.byID.keys) }
        for id in ids { _ = kill(id) }
    }

    /// Ends the cursors that have been idle for too long.
    func endIdle() {
        let now = ContinuousClock.now
        state.withLock { state in
            let idle = state.cursors.values.filter { cursor in
                !cursor.isPinned && cursor.session == nil
                    && idleMax(of: cursor).map { cursor.lastUsed + $0 < now } ?? false
            }
            for cursor in idle { state.cursors[cursor.id] = nil }
            state.timedOut += Int64(idle.count)
        }
    }

    /// Returns how long a cursor without a session may be idle; `nil` for ever.
    ///
    /// A cursor of the deployment behind a gateway ends at the latest with the session that the
    /// gateway has there.
    private func idleMax(of cursor: Cursor) -> Duration? {
        guard cursor.options.noTimeout else { return timeout }
        return cursor.source.isForwarded ? max(timeout, Self.forwardedTimeoutMax) : nil
    }

    /// MongoDB's time limit of idle sessions.
    private static let forwardedTimeoutMax: Duration = .seconds(30 * 60)

    /// The counts of open cursors for `serverStatus`; an ended one only waits for its client.
    var counts: (total: Int64, noTimeout: Int64, pinned: Int64, timedOut: Int64) {
        state.withLock { state in
            let cursors = state.cursors.values.filter { $0.end == nil }
            return (
                Int64(cursors.count), Int64(cursors.count { $0.options.noTimeout }),
                Int64(cursors.count { $0.isPinned }), state.timedOut
            )
        }
    }

    /// All cursors, for `$currentOp`.
    var all: [Cursor] { state.withLock { Array($0.cursors.values) } }
}

/// Cursors by their ids, with the size of what they keep in memory.
private struct CursorList: Sendable {
    /// The size of what any cursor takes besides its source, in bytes.
    fileprivate static let cursorBytes = 1_024

    /// The cursors of one user, or of one address as in ``CursorOwner/share``.
    private struct Own: Sendable {
        var count = 0
        var memoryBytes = 0
        /// The number of those that the deployment behind a gateway holds.
        var forwarded = 0
        /// The ids of those that no command reads, without ``ended``.
        var idle = UseOrder<Int64>()
        /// The ids of those that wait for a command to report their end.
        var ended = UseOrder<Int64>()

        /// The id of the cursor that ends, or is removed, first.
        ///
        /// Ended ones are kept while they take less than half of the memory.
        mutating func oldest() -> Int64? {
            let endedFirst = ended.count * CursorList.cursorBytes > memoryBytes / 2
            if endedFirst, let id = ended.oldest() { return id }
            return idle.oldest() ?? ended.oldest()
        }

        mutating func note(_ cursor: CursorTable.Cursor, isThere: Bool) {
            let sign = isThere ? 1 : -1
            count += sign
            memoryBytes += sign * CursorList.bytes(of: cursor)
            if cursor.source.isForwarded { forwarded += sign }
        }
    }

    private(set) var byID: [Int64: CursorTable.Cursor] = [:]
    private(set) var memoryBytes = 0
    /// The cursors by the share that they use.
    private var owners: [[UInt8]: Own] = [:]
    /// The ids of the cursors of each session, by the session's key.
    private var sessions: [[UInt8]: Set<Int64>] = [:]

    /// The number of a user's cursors that the deployment behind a gateway holds.
    func forwarded(of owner: CursorOwner) -> Int { owners[owner.share]?.forwarded ?? 0 }

    /// Returns the least recently used idle cursor of a user that has a kind of source.
    func oldest(
        of owner: CursorOwner, where isMeant: (any CursorSource) -> Bool
    ) -> CursorTable.Cursor? {
        owners[owner.share]?.idle.oldest { id in byID[id].map { isMeant($0.source) } ?? false }
            .flatMap { byID[$0] }
    }

    /// Returns the least recently used idle cursor of the user whose cursors keep most in memory,
    /// among users with idle ones.
    mutating func oldestOfGreatest() -> CursorTable.Cursor? {
        var (greatest, most) = ([UInt8]?.none, 0)
        for (owner, own) in owners where own.memoryBytes > most {
            guard own.idle.count + own.ended.count > 0 else { continue }
            (greatest, most) = (owner, own.memoryBytes)
        }
        guard let greatest, let id = owners[greatest]?.oldest() else { return nil }
        return byID[id]
    }

    fileprivate static func bytes(of cursor: CursorTable.Cursor) -> Int {
        cursorBytes + cursor.source.memoryBytes
    }

    /// The ids of a session's cursors.
    func ids(ofSession key: [UInt8]) -> Set<Int64> { sessions[key] ?? [] }

    var values: some Collection<CursorTable.Cursor> { byID.values }

    subscript(id: Int64) -> CursorTable.Cursor? {
        get { byID[id] }
        set {
            memoryBytes -= byID[id].map(Self.bytes) ?? 0
            memoryBytes += newValue.map(Self.bytes) ?? 0
            // A cursor stays with its owner.
            if let owner = (newValue ?? byID[id])?.owner { note(newValue, id, of: owner.share) }
            // A cursor stays in its session.
            if let session = (newValue ?? byID[id])?.session {
                note(id, in: SessionTable.key(session), isOpen: newValue != nil)
            }
            byID[id] = newValue
        }
    }

    private mutating func note(_ id: Int64, in session: [UInt8], isOpen: Bool) {
        if isOpen {
            sessions[session, default: []].insert(id)
        } else if sessions[session]?.remove(id) != nil, sessions[session]?.isEmpty == true {
            sessions[session] = nil
        }
    }

    /// Notes that a cursor replaces the one with the same id.
    private mutating func note(
        _ cursor: CursorTable.Cursor?, _ id: Int64, of owner: [UInt8]
    ) {
        if let before = byID[id] { owners[owner]?.note(before, isThere: false) }
        if let cursor {
            owners[owner, default: Own()].note(cursor, isThere: true)
            owners[owner]?.idle.remove(id)
            owners[owner]?.ended.remove(id)
            if cursor.isPinned { return }
            if cursor.end == nil {
                owners[owner]?.idle.use(id)
            } else {
                owners[owner]?.ended.use(id)
            }
        } else {
            owners[owner]?.idle.remove(id)
            owners[owner]?.ended.remove(id)
            if owners[owner]?.count == 0 { owners[owner] = nil }
        }
    }
}

/// The owner of a cursor: the user who may read it, and the share of the server that it uses.
struct CursorOwner: Sendable {
    /// The key of the user, or of the address (``ClientConnection/owner``).
    let share: [UInt8]
    private let name: [UInt8]
    private let database: [UInt8]

    /// - Parameters:
    ///   - user: the signed-in user; `nil` where clients do not sign in.
    ///   - share: the key of the user's share of the server.
    init(_ user: SignedInUser?, share: [UInt8]) {
        self.share = share
        name = Array((user?.name ?? "").text.utf8)
        database = Array((user?.database ?? "").text.utf8)
    }

    /// Whether both are of one user, whatever shares they use.
    func isSameUser(as other: CursorOwner) -> Bool {
        name == other.name && database == other.database
    }
}

extension CommandCall {
    /// The owner of the cursors that the command opens and uses.
    var cursorOwner: CursorOwner {
        CursorOwner(connection.state.withLock { $0.user }, share: connection.owner)
    }
}

/// The behavior of a cursor.
struct CursorOptions: Sendable {
    /// The cursor never times out.
    var noTimeout = false
    /// The cursor stays open after the last document.
    var isTailable = false
    /// At the end, a `getMore` waits for more documents.
    var awaitsData = false
    /// The command that opened the cursor had a time limit.
    var hasTimeLimit = false
    /// The default batch size of `getMore`.
    var batchSize: Int?
}

extension CommandFailure {
    /// Returns the error for cursors of a dropped collection.
    static func dropped(_ uuid: BSONValue?) -> CommandFailure {
        CommandFailure(175, "collection dropped. UUID \(uuidText(uuid))")
    }

    /// Returns the error for cursors of a renamed collection.
    static func renamed(_ name: Namespace, to other: Namespace, _ uuid: BSONValue?)
        -> CommandFailure
    {
        CommandFailure(
            175, "collection renamed from '\(name)' to '\(other)'. UUID \(uuidText(uuid))")
    }

    private static func uuidText(_ value: BSONValue?) -> String {
        // UUID("…")
        value.map { String(ShellText.text(of: $0).dropFirst(6).dropLast(2)) } ?? ""
    }
}
