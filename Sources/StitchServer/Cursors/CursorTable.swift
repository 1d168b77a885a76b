internal import BSONStore

/// Holds the cursors that clients have not read to the end.
final class CursorTable: Sendable {
    /// One cursor.
    struct Cursor: Sendable {
        let id: Int64
        let namespace: Namespace
        let session: BSONDocument?
        let options: CursorOptions
        var source: any CursorSource
        var lastUsed = ContinuousClock.now
        /// Whether a command is reading it now.
        var isPinned = false
        /// Whether it ends when that command is done.
        var isKilled = false
    }

    private struct State: Sendable {
        var cursors: [Int64: Cursor] = [:]
        var timedOut: Int64 = 0
        var generator = SystemRandomNumberGenerator()
    }

    private let timeout: Duration
    private let state = Locked(State())

    init(timeoutSeconds: Int) { timeout = .seconds(timeoutSeconds) }

    /// Adds a cursor and gives its number, which is not 0 and cannot be guessed.
    func add(
        _ source: any CursorSource, _ namespace: Namespace, _ session: BSONDocument?,
        _ options: CursorOptions
    ) -> Int64 {
        state.withLock { state in
            var id: Int64 = 0
            while id <= 0 || state.cursors[id] != nil {
                id = Int64.random(in: 1...Int64.max, using: &state.generator)
            }
            state.cursors[id] = Cursor(
                id: id, namespace: namespace, session: session, options: options, source: source)
            return id
        }
    }

    /// Takes a cursor for one command.
    ///
    /// - Throws: 43 (CursorNotFound), 12051 (CursorInUse), 13 for another namespace or session.
    func pin(
        _ id: Int64, _ namespace: Namespace, _ session: BSONDocument?
    ) throws(CommandFault) -> Cursor {
        try state.withLock { (state) throws(CommandFault) in
            guard var cursor = state.cursors[id], !cursor.isKilled else {
                throw CommandFault(43, "cursor id \(id) not found")
            }
            guard !cursor.isPinned else {
                throw CommandFault(12051, "cursor id \(id) is already in use")
            }
            guard cursor.namespace == namespace else {
                throw CommandFault(
                    13,
                    "Requested getMore on namespace '\(namespace)', but cursor belongs to a "
                        + "different namespace \(cursor.namespace)")
            }
            try Self.check(cursor, session)
            cursor.isPinned = true
            state.cursors[id] = cursor
            return cursor
        }
    }

    private static func check(
        _ cursor: Cursor, _ session: BSONDocument?
    ) throws(CommandFault) {
        let (own, given) = (cursor.session, session)
        if own == nil, let given {
            throw CommandFault(
                50737,
                "Cannot run getMore on cursor \(cursor.id), which was not created in a session, "
                    + "in session \(SessionText.text(given))")
        }
        if let own, given == nil {
            throw CommandFault(
                50736,
                "Cannot run getMore on cursor \(cursor.id), which was created in session "
                    + "\(SessionText.text(own)), without an lsid")
        }
        if let own, let given, SessionTable.key(own) != SessionTable.key(given) {
            throw CommandFault(
                50738,
                "Cannot run getMore on cursor \(cursor.id), which was created in session "
                    + "\(SessionText.text(own)), in session \(SessionText.text(given))")
        }
    }

    /// Gives a cursor back, or ends it.
    func unpin(_ id: Int64, _ source: any CursorSource, isAtEnd: Bool) {
        state.withLock { state in
            guard var cursor = state.cursors[id] else { return }
            guard !isAtEnd, !cursor.isKilled else {
                state.cursors[id] = nil
                return
            }
            cursor.source = source
            cursor.isPinned = false
            cursor.lastUsed = .now
            state.cursors[id] = cursor
        }
    }

    /// Ends a cursor; one that is being read ends afterwards.
    ///
    /// - Returns: whether there was one of the namespace.
    func kill(_ id: Int64, _ namespace: Namespace? = nil) -> Bool {
        state.withLock { state in
            guard var cursor = state.cursors[id], !cursor.isKilled,
                namespace == nil || cursor.namespace == namespace
            else { return false }
            if cursor.isPinned {
                cursor.isKilled = true
                state.cursors[id] = cursor
            } else {
                state.cursors[id] = nil
            }
            return true
        }
    }

    /// Whether a cursor was killed while a command reads it.
    func isKilled(_ id: Int64) -> Bool {
        state.withLock { $0.cursors[id]?.isKilled ?? true }
    }

    /// Ends the cursors of a session.
    func kill(session: BSONDocument) {
        let key = SessionTable.key(session)
        killAll { $0.session.map(SessionTable.key) == key }
    }

    /// Ends the cursors of a collection, or of a database.
    func kill(database: String, collection: String? = nil) {
        killAll {
            $0.namespace.database == database
                && (collection == nil || $0.namespace.collection == collection)
        }
    }

    /// Ends the cursors that are meant.
    func killAll(where isMeant: (Cursor) -> Bool = { _ in true }) {
        let ids = state.withLock { $0.cursors.values.filter(isMeant).map(\.id) }
        for id in ids { _ = kill(id) }
    }

    /// Ends the cursors that were not used for too long.
    func endIdle() {
        let limit = ContinuousClock.now - timeout
        state.withLock { state in
            let idle = state.cursors.values.filter { cursor in
                !cursor.isPinned && !cursor.options.noTimeout && cursor.session == nil
                    && cursor.lastUsed < limit
            }
            for cursor in idle { state.cursors[cursor.id] = nil }
            state.timedOut += Int64(idle.count)
        }
    }

    /// How many cursors there are, for `serverStatus`.
    var counts: (total: Int64, noTimeout: Int64, pinned: Int64, timedOut: Int64) {
        state.withLock { state in
            let cursors = state.cursors.values
            return (
                Int64(cursors.count), Int64(cursors.count { $0.options.noTimeout }),
                Int64(cursors.count { $0.isPinned }), state.timedOut
            )
        }
    }

    /// All cursors, for `$currentOp`.
    var all: [Cursor] { state.withLock { Array($0.cursors.values) } }
}

/// Says how a cursor behaves.
struct CursorOptions: Sendable {
    /// It is kept however long it is idle.
    var noTimeout = false
    /// It goes on behind the last document.
    var isTailable = false
    /// At the end it waits a while for more.
    var awaitsData = false
    /// The command that made it had a time limit.
    var hasTimeLimit = false
    /// How many documents a batch has where the getMore does not say.
    var batchSize: Int?
}
