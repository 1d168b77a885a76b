/// Keeps documents in collections of an SQLite file, or in memory.
///
/// A store may be used from all threads: one write transaction runs at a time, reads run beside it
/// on a snapshot of their own. Several processes may use one file.
public final class DocumentStore: Sendable {
    /// Where the documents are.
    public let location: Location
    /// The settings with which the store was opened.
    public let options: Options
    /// Whether writing is refused, as asked for or because the file cannot be written.
    public let isReadOnly: Bool

    /// Which file was opened; `nil` in memory.
    let place: StoreFileIdentity?
    let mutex = ThreadMutex()
    let writer: Locked<Writer>
    let readers = ReaderPool()
    let observers = CommitObservers()
    /// Those who are told of the end.
    private let closings = CommitObservers()
    let commitWatch = CommitWatch()
    let writerThread = WorkerThread<GroupCommitJob>(batchMax: GroupCommitJob.jobsMax) { jobs in
        GroupCommitJob.run(jobs)
    }

    /// The connection for writing, and what is known about the file since its last commit.
    struct Writer: Sendable {
        var connection: SQLiteConnection?
        var isClosed = false
        var feed: ChangeFeed?
        var dataVersion: UInt32 = 0
    }

    /// Opens a store; a file that is not there is made, readable for its owner only.
    ///
    /// - Throws: `notADatabase` for files of others, `newerSchema` for files of a later version
    ///   (neither is changed), `corrupt`, `cannotOpen`, `busy`, `diskFull`.
    public init(
        at location: Location, options: Options = Options()
    ) throws(StoreError) {
        let connection = try StoreOpener.writer(location, options)
        self.location = location
        self.options = options
        if case .file(let path) = location { place = StoreFileIdentity(path) } else { place = nil }
        isReadOnly = connection.isReadOnly
        writer = Locked(Writer(connection: connection))
    }

    deinit { close() }

    /// Waits for the write that is under way, then closes the file; later calls throw `closed`, and an
    /// engine that syncs the store ends.
    ///
    /// A read that is under way ends undisturbed.
    public func close() {
        precondition(!mutex.isHeldByThisThread, "a store cannot be closed in its own write")
        mutex.lock()
        shut()
        mutex.unlock()
        closings.notify()
    }

    /// Calls back once the store is closed, on the thread that closes it.
    package func observeClosing(
        _ observer: @escaping @Sendable () -> Void
    ) -> CommitObservation { closings.add(observer) }

    /// Closes as ``close()`` does, unless a look at the last state throws; this process writes nothing
    /// between the two.
    ///
    /// - Throws: what the look throws, and `closed` when the store is already; it is left as it is.
    package func close(after look: (ReadTransaction) throws -> Void) throws {
        let connection = try enterWriter()
        do {
            defer { mutex.unlock() }
            try read(on: connection, look)
            shut()
        }
        closings.notify()
    }

    /// - Throws: `closed` when the store is.
    package func checkIsOpen() throws(StoreError) {
        guard !writer.withLock({ $0.isClosed }) else { throw Self.closed }
    }

    private func shut() {
        // The last connection takes the log into the file, which a reader cannot.
        readers.close()
        commitWatch.stop()
        let open = writer.withLock { $0.connection }
        if let open, let fault = place?.fault(open) { abandon(open, fault) }
        writer.withLock { writer in
            writer.isClosed = true
            writer.connection = nil
        }
        writerThread.stop()
    }
}
