/// A monitor of commits that reports the store's own at once, those of other processes soon.
///
/// While a task waits, a thread compares the header of the WAL index. It does so after each write to
/// the log that the system reports; where the system reports none, at growing intervals.
final class CommitWatch: Sendable {
    private let signal = Signal()
    private let thread = CommitWatchThread()

    /// How many commits, or groups of commits, have been noticed.
    var count: Int { signal.count }

    /// Records a commit of this store.
    func notify() { signal.notify() }

    /// Waits for a commit beyond a count; returns at once when the task is cancelled.
    func wait(after count: Int, in store: DocumentStore) async throws {
        if case .file(let path) = store.location {
            try thread.begin { [signal, store] () throws(StoreError) in
                let reader = try StoreOpener.reader(path, store.options, alone: store.isReadOnly)
                return (reader, signal)
            }
        }
        await signal.wait(after: count)
        thread.end()
        try Task.checkCancellation()
    }

    /// Reopens the file after it was replaced.
    func forget() {
        thread.forget()
        signal.notify()
    }

    /// Wakes all waiting tasks and closes the monitor's connection before it returns.
    func stop() {
        thread.stop()
        signal.notify()
    }
}

/// The pauses between two looks at the header of the WAL index.
///
/// A process writes a commit to the log, waits for the disk, and then changes the header. So a
/// write announces a change of the header that comes later.
struct CommitWatchPace {
    /// The longest pause where the system does not report writes, in milliseconds.
    static let pollMaxMS = 32
    /// The time after a write within which its commit is looked for, in milliseconds.
    static let settleMS = 4_000
    /// The pause when nothing was written for ``settleMS``, in milliseconds.
    static let quietMS = 60_000

    /// A pause between two looks.
    struct Pause: Equatable {
        let milliseconds: Int
        /// Whether a write to the log ends it.
        let endsWithWrite: Bool
    }

    private var delay = 2
    private var passed = 0

    /// Begins with short pauses again, after a write or a changed header.
    mutating func restart() { self = Self() }

    /// The next pause.
    ///
    /// - Parameter hasReports: whether the system reports writes to the log.
    mutating func next(hasReports: Bool) -> Pause {
        guard hasReports else {
            defer { delay = min(delay * 2, Self.pollMaxMS) }
            return Pause(milliseconds: delay, endsWithWrite: false)
        }
        guard passed < Self.settleMS else {
            return Pause(milliseconds: Self.quietMS, endsWithWrite: true)
        }
        defer {
            passed += delay
            delay *= 2
        }
        // Short pauses are whole, so that many writes do not make many looks.
        return Pause(milliseconds: delay, endsWithWrite: delay > Self.pollMaxMS)
    }
}

/// The thread that looks for commits of other processes while a task waits.
private final class CommitWatchThread: Sendable {
    typealias Start = () throws(StoreError) -> (SQLiteConnection, Signal)

    private struct Watched: Sendable {
        let connection: SQLiteConnection
        let signal: Signal
        /// The writes to the log; `nil` if the system does not report them.
        let writes: FileWrites?

        init(_ connection: SQLiteConnection, _ signal: Signal) {
            self.connection = connection
            self.signal = signal
            writes = FileWrites(to: connection.path + "-wal")
        }
    }

    private struct State: Sendable {
        /// The number of waiting tasks.
        var waiting = 0
        var isStopped = false
        var isRunning = false
        var watched: Watched?
    }

    private let state = ThreadCondition(State())

    /// Adds a waiting task; the first one starts the thread.
    func begin(_ start: Start) throws(StoreError) {
        try state.withLock(waking: .one) { (state) throws(StoreError) in
            guard !state.isStopped else { throw DocumentStore.closed }
            if state.watched == nil {
                let (connection, signal) = try start()
                state.watched = Watched(connection, signal)
            }
            if !state.isRunning {
                guard DetachedThread.start({ self.run() }) else {
                    state.watched = nil
                    throw StoreError(.internalError, "The system has no thread left")
                }
                state.isRunning = true
            }
            // While other tasks wait, the thread misses no write.
            if state.waiting == 0 { state.watched?.writes?.interrupt() }
            state.waiting += 1
        }
    }

    func end() { state.withLock { $0.waiting = max(0, $0.waiting - 1) } }

    func forget() {
        state.withLock(waking: .all) { state in
            state.watched?.writes?.interrupt()
            state.watched = nil
        }
    }

    /// Ends the thread and waits for its end.
    func stop() {
        state.withLock(waking: .all) { state in
            state.isStopped = true
            state.watched?.writes?.interrupt()
        }
        state.wait { $0.isRunning ? .forSignal : .done(()) }
    }

    private func run() {
        // Not the current header: the waiting task may have read before a commit that is already in
        // it.
        var last: WALHeader?
        var pace = CommitWatchPace()
        while let (writes, pause) = look(&last, &pace) {
            if writes.wait(milliseconds: pause) == .written { pace.restart() }
        }
    }

    /// Looks at the header again and again until a write may end a pause.
    ///
    /// - Returns: what to wait for, and how long; `nil` when the thread ends.
    private func look(
        _ last: inout WALHeader?, _ pace: inout CommitWatchPace
    ) -> (writes: FileWrites, milliseconds: Int)? {
        state.wait { state in
            guard !state.isStopped, let watched = state.watched else {
                state.watched = nil
                state.isRunning = false
                self.state.wake(.all)
                return .done(nil)
            }
            guard state.waiting > 0 else {
                pace.restart()
                return .forSignal
            }
            let header = watched.connection.walHeader
            if header != last {
                last = header
                pace.restart()
                watched.signal.notify()
            }
            let pause = pace.next(hasReports: watched.writes != nil)
            guard pause.endsWithWrite, let writes = watched.writes else {
                return .forSignalOr(milliseconds: pause.milliseconds)
            }
            return .done((writes, pause.milliseconds))
        }
    }
}
