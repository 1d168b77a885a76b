/// The thread that looks for commits of other processes while tasks wait, for all stores of the
/// process.
///
/// It starts with the first waiting task and ends after some seconds without one.
final class CommitWatchThread: Sendable {
    static let shared = CommitWatchThread()

    /// The time without a waiting task after which the thread ends, in milliseconds.
    private static let idleMS = 5_000

    /// A store whose commits the thread searches for while tasks wait.
    fileprivate struct Watched {
        let connection: SQLiteConnection
        let signal: Signal
        /// The log; `nil` if the system does not report writes to it.
        let log: FileWrites.File?
        /// The number of waiting tasks.
        var waiting = 0
        /// Not the current header in the beginning: the waiting task may have read before a commit
        /// that is already in it.
        var header: WALHeader?
        var pace = CommitWatchPace()
        /// Whether the log was written since the short pauses began.
        var isWritten = false
        /// The time of the next look.
        var due = ContinuousClock.now
        /// Whether a write to the log brings the next look forward.
        var endsWithWrite = false
    }

    private struct State {
        var watched: [ObjectIdentifier: Watched] = [:]
        /// The writes to all logs; `nil` before the first store, and if the system reports none.
        var writes: FileWrites?
        var isRunning = false
        /// Whether the thread waits for writes, not for the condition.
        var waitsForWrites = false
    }

    private let state = ThreadCondition(State())

    /// Adds a waiting task of a store; the first one starts the thread.
    ///
    /// - Parameters:
    ///   - check: throws if the store is closed.
    ///   - open: opens a connection that only the thread uses.
    func begin(
        _ id: ObjectIdentifier, _ signal: Signal, _ check: () throws(StoreError) -> Void,
        _ open: () throws(StoreError) -> SQLiteConnection
    ) throws(StoreError) {
        let isKnown = state.withLock { $0.watched[id] != nil }
        // Not under the lock, which all stores share.
        var connection = try isKnown ? nil : open()
        while true {
            let hasBegun = try state.withLock(waking: .one) { (state) throws(StoreError) in
                try check()
                return try add(id, signal, connection, &state)
            }
            if hasBegun { return }
            // The file was replaced meanwhile.
            connection = try open()
        }
    }

    /// Adds a waiting task; returns false if a connection is missing.
    private func add(
        _ id: ObjectIdentifier, _ signal: Signal, _ connection: SQLiteConnection?,
        _ state: inout State
    ) throws(StoreError) -> Bool {
        if state.watched[id] == nil {
            guard let connection else { return false }
            if state.writes == nil { state.writes = FileWrites() }
            let log = state.writes?.add(connection.path + "-wal")
            state.watched[id] = Watched(connection: connection, signal: signal, log: log)
        }
        if !state.isRunning {
            guard DetachedThread.start({ self.run() }) else {
                throw StoreError(.internalError, "The system has no thread left")
            }
            state.isRunning = true
        }
        // While other tasks wait, the thread misses no write.
        if state.watched[id]?.waiting == 0 {
            state.watched[id]?.pace.restart()
            state.watched[id]?.due = .now
            if state.waitsForWrites { state.writes?.interrupt() }
        }
        state.watched[id]?.waiting += 1
        return true
    }

    /// Removes a waiting task.
    func end(_ id: ObjectIdentifier) {
        state.withLock { state in
            guard let waiting = state.watched[id]?.waiting else { return }
            state.watched[id]?.waiting = max(0, waiting - 1)
        }
    }

    /// Closes a store's connection before it returns.
    func forget(_ id: ObjectIdentifier) {
        // The connection is closed with the value, outside of the lock.
        _ = state.withLock { state -> Watched? in
            guard let removed = state.watched.removeValue(forKey: id) else { return nil }
            if let log = removed.log, !state.watched.values.contains(where: { $0.log == log }) {
                state.writes?.remove(log)
            }
            return removed
        }
    }

    private func run() {
        while let (writes, pause) = look() {
            _ = writes.wait(milliseconds: pause)
        }
    }

    /// Looks at the headers of the stores that are due, again and again until only a write may end
    /// the pause.
    ///
    /// - Returns: what to wait for, and how long; `nil` when the thread ends.
    private func look() -> (writes: FileWrites, milliseconds: Int)? {
        var isIdle = false
        return state.wait { state in
            state.waitsForWrites = false
            let hasWrites = Self.noteWrites(&state)
            guard state.watched.values.contains(where: { $0.waiting > 0 }) else {
                guard !isIdle else {
                    state.isRunning = false
                    return .done(nil)
                }
                isIdle = true
                return .forSignalOr(milliseconds: Self.idleMS)
            }
            isIdle = false
            let (pause, endsWithWrite) = Self.lookAtDue(&state)
            guard endsWithWrite, let writes = state.writes else {
                return .forSignalOr(milliseconds: pause)
            }
            // A store that no task watches may be written all the time.
            if hasWrites {
                return .forSignalOr(milliseconds: min(pause, CommitWatchPace.pollMaxMS))
            }
            state.waitsForWrites = true
            return .done((writes, pause))
        }
    }

    /// Marks the stores whose log was written to be checked; returns whether there are any.
    private static func noteWrites(_ state: inout State) -> Bool {
        guard let files = state.writes?.reported(), !files.isEmpty else { return false }
        for (id, watched) in state.watched {
            guard let log = watched.log, files.contains(log) || files.contains(.unknown) else {
                continue
            }
            state.watched[id]?.isWritten = true
            if watched.endsWithWrite { state.watched[id]?.due = .now }
        }
        return true
    }

    /// Looks at the header of each store that is due.
    ///
    /// - Returns: the time until the next store is due, in milliseconds, and whether a write to the
    ///   log of any store would end it.
    private static func lookAtDue(_ state: inout State) -> (pauseMS: Int, endsWithWrite: Bool) {
        let now = ContinuousClock.now
        var next = now + .milliseconds(CommitWatchPace.quietMS)
        var endsWithWrite = true
        for id in state.watched.keys {
            guard var watched = state.watched[id], watched.waiting > 0 else { continue }
            if watched.due <= now {
                watched.look(now)
                state.watched[id] = watched
            }
            next = min(next, watched.due)
            endsWithWrite = endsWithWrite && watched.endsWithWrite
        }
        return (max(1, Int((next - now).milliseconds)), endsWithWrite)
    }
}

extension CommitWatchThread.Watched {
    /// Looks at the header, and plans the next look.
    mutating func look(_ now: ContinuousClock.Instant) {
        let current = connection.walHeader
        if current != header {
            header = current
            pace.restart()
            signal.notify()
        }
        var pause = pace.next(hasReports: log != nil)
        // Not in a short pause, so that many writes do not cause many reads.
        if pause.endsWithWrite, isWritten {
            isWritten = false
            pace.restart()
            pause = pace.next(hasReports: log != nil)
        }
        due = now + .milliseconds(pause.milliseconds)
        endsWithWrite = pause.endsWithWrite
    }
}
