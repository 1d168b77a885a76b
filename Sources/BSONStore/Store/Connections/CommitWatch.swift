/// A monitor of commits that reports the store's own at once, those of other processes within a
/// bounded delay.
///
/// While a task waits, a thread compares the header of the WAL index, which needs no system call
/// except its own timer: after 2 ms, then at growing intervals up to ``delayMaxMS``.
final class CommitWatch: Sendable {
    /// The longest delay before a commit of another process is noticed, in milliseconds.
    static let delayMaxMS = 32

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

/// The thread that looks for commits of other processes while a task waits.
private final class CommitWatchThread: Sendable {
    typealias Start = () throws(StoreError) -> (SQLiteConnection, Signal)

    private struct State: Sendable {
        /// The number of waiting tasks.
        var waiting = 0
        var isStopped = false
        var isRunning = false
        var watched: (connection: SQLiteConnection, signal: Signal)?
    }

    private let state = ThreadCondition(State())

    /// Adds a waiting task; the first one starts the thread.
    func begin(_ start: Start) throws(StoreError) {
        try state.withLock(waking: .one) { (state) throws(StoreError) in
            guard !state.isStopped else { throw DocumentStore.closed }
            if state.watched == nil { state.watched = try start() }
            if !state.isRunning {
                guard DetachedThread.start({ self.run() }) else {
                    state.watched = nil
                    throw StoreError(.internalError, "The system has no thread left")
                }
                state.isRunning = true
            }
            state.waiting += 1
        }
    }

    func end() { state.withLock { $0.waiting = max(0, $0.waiting - 1) } }

    func forget() { state.withLock(waking: .all) { $0.watched = nil } }

    /// Ends the thread and waits for its end.
    func stop() {
        state.withLock(waking: .all) { $0.isStopped = true }
        state.wait { $0.isRunning ? .forSignal : .done(()) }
    }

    private func run() {
        // Not the current header: the waiting task may have read before a commit that is already in
        // it.
        var last: WALHeader?
        var delay = 2
        state.wait { state in
            guard !state.isStopped, let (connection, signal) = state.watched else {
                state.watched = nil
                state.isRunning = false
                self.state.wake(.all)
                return .done(())
            }
            guard state.waiting > 0 else {
                delay = 2
                return .forSignal
            }
            let header = connection.walHeader
            if header != last {
                last = header
                delay = 2
                signal.notify()
            }
            defer { delay = min(delay * 2, CommitWatch.delayMaxMS) }
            return .forSignalOr(milliseconds: delay)
        }
    }
}
