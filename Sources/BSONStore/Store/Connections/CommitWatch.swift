/// Notices commits: those of this store at once, those of other processes within a bounded delay.
///
/// While somebody waits, a thread compares the header of the log's index, which costs no system call
/// but its own waking: after 2 ms, then ever later up to ``delayMaxMS``.
final class CommitWatch: Sendable {
    /// A commit of another process is noticed after at most so many milliseconds.
    static let delayMaxMS = 32

    private let signal = Signal()
    private let thread = CommitWatchThread()

    /// How many commits, or groups of them, were noticed.
    var count: Int { signal.count }

    /// Notes a commit of this store.
    func notify() { signal.notify() }

    /// Waits for a commit after those that were counted; returns at once when the task is cancelled.
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

    /// Looks at the file anew, which is another one.
    func forget() {
        thread.forget()
        signal.notify()
    }

    /// Wakes all who wait, and closes what looks for commits before it returns.
    func stop() {
        thread.stop()
        signal.notify()
    }
}

/// Looks for other processes' commits while somebody waits for one.
private final class CommitWatchThread: @unchecked Sendable {
    typealias Start = () throws(StoreError) -> (SQLiteConnection, Signal)

    private let condition = ThreadCondition()
    private var waiting = 0
    private var isStopped = false
    private var isRunning = false
    private var watched: (connection: SQLiteConnection, signal: Signal)?

    /// Counts one more who waits; the first one makes the thread begin.
    func begin(_ start: Start) throws(StoreError) {
        condition.lock()
        defer { condition.unlock() }
        guard !isStopped else { throw DocumentStore.closed }
        if watched == nil {
            watched = try start()
        }
        if !isRunning {
            guard DetachedThread.start({ self.run() }) else {
                watched = nil
                throw StoreError(.internalError, "The system has no thread left")
            }
            isRunning = true
        }
        waiting += 1
        condition.signal()
    }

    func end() {
        condition.lock()
        defer { condition.unlock() }
        waiting = max(0, waiting - 1)
    }

    func forget() {
        condition.lock()
        defer { condition.unlock() }
        watched = nil
        condition.broadcast()
    }

    func stop() {
        condition.lock()
        defer { condition.unlock() }
        isStopped = true
        condition.broadcast()
        while isRunning { condition.wait() }
    }

    private func run() {
        condition.lock()
        defer { condition.unlock() }
        // Not the header of now: who waits may have looked before a commit that is there already.
        var last: WALHeader?
        var delay = 2
        while !isStopped, let (connection, signal) = watched {
            guard waiting > 0 else {
                condition.wait()
                delay = 2
                continue
            }
            let header = connection.walHeader
            if header != last {
                last = header
                delay = 2
                signal.notify()
            }
            condition.wait(milliseconds: delay)
            delay = min(delay * 2, CommitWatch.delayMaxMS)
        }
        watched = nil
        isRunning = false
        condition.broadcast()
    }
}
