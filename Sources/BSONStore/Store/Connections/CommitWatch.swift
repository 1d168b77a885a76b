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
private final class CommitWatchThread: @unchecked Sendable {
    typealias Start = () throws(StoreError) -> (SQLiteConnection, Signal)

    private let condition = ThreadCondition()
    private var waiting = 0
    private var isStopped = false
    private var isRunning = false
    private var watched: (connection: SQLiteConnection, signal: Signal)?

    /// Adds a waiting task; the first one starts the thread.
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
        // Not the current header: the waiting task may have read before a commit that is already in
        // it.
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
