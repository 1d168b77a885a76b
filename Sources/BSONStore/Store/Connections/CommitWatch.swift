/// A monitor of commits that reports the store's own at once, those of other processes soon.
///
/// While a task waits, a thread compares the header of the WAL index. It does so after each write to
/// the log that the system reports; where the system reports none, at growing intervals. All stores
/// of the process share the thread.
final class CommitWatch: Sendable {
    private let signal = Signal()
    private let isStopped = Locked(false)
    private let thread = CommitWatchThread.shared

    /// The number of commits, or groups of commits, that were noticed.
    var count: Int { signal.count }

    /// Records a commit of this store.
    func notify() { signal.notify() }

    /// Waits for a commit beyond a count; returns at once when the task is cancelled.
    func wait(after count: Int, in store: DocumentStore) async throws {
        guard case .file(let path) = store.location else {
            await signal.wait(after: count)
            return try Task.checkCancellation()
        }
        let id = ObjectIdentifier(self)
        try thread.begin(id, signal, checkIsRunning) { () throws(StoreError) in
            try StoreOpener.reader(path, store.options, alone: store.isReadOnly)
        }
        await signal.wait(after: count)
        thread.end(id)
        try Task.checkCancellation()
    }

    private func checkIsRunning() throws(StoreError) {
        if isStopped.withLock({ $0 }) { throw DocumentStore.closed }
    }

    /// Reopens the file after it was replaced.
    func forget() {
        thread.forget(ObjectIdentifier(self))
        signal.notify()
    }

    /// Wakes all waiting tasks and closes the monitor's connection before it returns.
    func stop() {
        isStopped.withLock { $0 = true }
        thread.forget(ObjectIdentifier(self))
        signal.notify()
    }
}

/// The pauses between two reads of the header of the WAL index.
///
/// A process writes a commit to the log, waits for the disk, and then changes the header. So a
/// write announces a change of the header that comes later.
struct CommitWatchPace {
    /// The longest pause where the system does not report writes, in milliseconds.
    static let pollMaxMS = 32
    /// The time after a write in which its commit is searched for, in milliseconds.
    static let settleMS = 4_000
    /// The pause when nothing was written for ``settleMS``, in milliseconds.
    static let quietMS = 60_000

    /// A pause between two reads.
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
        // Short pauses are whole, so that many writes do not cause many reads.
        return Pause(milliseconds: delay, endsWithWrite: delay > Self.pollMaxMS)
    }
}
