/// A store of document collections in an SQLite file or in memory.
///
/// All threads may use a store: one write transaction runs at a time, and reads run concurrently on
/// snapshots of their own. Several processes may use one file.
public final class DocumentStore: Sendable {
    /// The place where the documents are kept.
    public typealias Location = StoreLocation
    /// The storage that a commit waits for.
    public typealias Durability = StoreDurability
    /// The changes that a file's feed keeps.
    public typealias ChangeHistory = StoreChangeHistory
    /// The treatment of deleted or replaced bytes in the file.
    public typealias SecureDelete = StoreSecureDelete
    /// The settings of a store; the defaults are safe.
    public typealias Options = StoreOptions

    /// The place of the documents.
    public let location: Location
    /// The settings of the store.
    public let options: Options
    /// Whether writes are refused, by the options or because the file cannot be written.
    public let isReadOnly: Bool

    /// The identity of the opened file; `nil` in memory.
    let place: StoreFileIdentity?
    let mutex = ThreadMutex()
    let writer: Locked<Writer>
    let readers = ReaderPool()
    let observers = CommitObservers<CommittedWrites>()
    /// The observers of the store's closing.
    private let closings = CommitObservers<Void>()
    let commitWatch = CommitWatch()
    let writerThread = WorkerThread<GroupCommitJob> { GroupCommitJob.run($0, $1) }

    /// The write connection and the cached state of the file since its last commit.
    struct Writer: Sendable {
        var connection: SQLiteConnection?
        var isClosed = false
        var feed: ChangeFeed?
        var dataVersion: UInt32 = 0
    }

    /// Opens a store; creates a missing file, readable for its owner only.
    ///
    /// - Throws: `notADatabase` for a foreign file, `newerSchema` or `olderSchema` for a file of another version,
    ///   neither of which is changed; `corrupt`, `cannotOpen`, `busy`, `diskFull`.
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

    /// Waits for the write in progress, then closes the file and ends an engine that syncs the
    /// store.
    ///
    /// Reads in progress finish normally; later calls throw `closed`.
    public func close() {
        precondition(!mutex.isHeldByThisThread, "a store cannot be closed in its own write")
        mutex.lock()
        shut()
        mutex.unlock()
        closings.notify(())
    }

    /// Calls an observer once the store is closed, on the closing thread.
    package func observeClosing(
        _ observer: @escaping @Sendable () -> Void
    ) -> CommitObservation { closings.add(observer) }

    /// Closes the store unless a final read throws; this process writes nothing between the two.
    ///
    /// - Throws: the read's error, and `closed` when the store already is; the store stays open
    ///   then.
    package func close(after look: (ReadTransaction) throws -> Void) throws {
        let connection = try enterWriter()
        do {
            defer { mutex.unlock() }
            try read(on: connection, look)
            shut()
        }
        closings.notify(())
    }

    /// - Throws: `closed` when the store is closed.
    package func checkIsOpen() throws(StoreError) {
        guard !isClosed else { throw Self.closed }
    }

    /// Whether the store was closed; waits for the write in progress.
    package var isClosed: Bool { writer.withLock { $0.isClosed } }

    private func shut() {
        // The last connection moves the log into the file, which a reader cannot do.
        let isRead = readers.close()
        commitWatch.stop()
        let open = writer.withLock { $0.connection }
        if let open, let fault = place?.fault(open) {
            abandon(open, fault)
        } else if let open, isRead, !isReadOnly {
            // A reader is the last connection then: the file is complete without the log, too.
            open.moveLogIntoFile()
        }
        writer.withLock { writer in
            writer.isClosed = true
            writer.connection = nil
        }
        writerThread.stop()
    }
}

// MARK: - The file

extension DocumentStore {
    /// Ends the store when its file was replaced or truncated.
    ///
    /// - Throws: `cannotOpen` or `corrupt`, naming the file and the remedy.
    func checkPlace(of connection: SQLiteConnection?) throws(StoreError) {
        guard let fault = place?.fault(connection) else { return }
        readers.forget()
        commitWatch.forget()
        throw fault
    }

    /// Ends the store when its log was cut, overwritten or replaced.
    ///
    /// - Parameter connection: the one that writes at present.
    /// - Throws: `corrupt`, naming the log and the remedy.
    func checkLog(of connection: SQLiteConnection) throws(StoreError) {
        guard let fault = place?.logFault(connection) else { return }
        readers.forget()
        commitWatch.forget()
        throw fault
    }

    /// Makes the writer release a file that must not be touched any more.
    ///
    /// The log at the path belongs to the opened file. If that file was only replaced, its log is
    /// now checkpointed into it through the open descriptors, so that the new file is not read with
    /// that log.
    func abandon(_ connection: SQLiteConnection, _ fault: StoreError) {
        if !isReadOnly { connection.abandon(emptyingLog: fault.code == .cannotOpen) }
        writer.withLock { $0.connection = nil }
    }
}
