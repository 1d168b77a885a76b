/// A pool of read connections, which keeps the snapshot of a burst of reads open.
///
/// An open read transaction saves the next read the locks of a new one, more than half of its time.
/// Before reuse, the header of the WAL index shows whether any process has committed since. If so,
/// the transaction is begun anew, so that no read misses an earlier commit. The pool ends the
/// transaction when this store writes and after a short idle time, because checkpoints cannot pass
/// it.
///
/// Connections are numbered from 0, and the lowest idle one is used. The more connections read
/// concurrently, the smaller the cache of each new one, so that all caches together stay within
/// twice the first.
final class ReaderPool: @unchecked Sendable {
    /// The largest number of idle connections.
    static let idleMax = 4
    /// The keeper's interval in milliseconds; a transaction without reads ends after one to two
    /// intervals.
    static let idleMS = 10

    private let condition = ThreadCondition()
    /// The idle connections, the lowest number last.
    private var idle: [StoreReader] = []
    /// The numbers of connections that are idle or in use.
    private var numbers: Set<Int> = []
    private var isClosed = false
    /// How often the file has been replaced.
    private var generation = 0
    /// The number of the keeper's rounds.
    private var round = 0
    private var keeper = Keeper.absent

    /// The state of the thread that ends idle transactions.
    private enum Keeper {
        case absent
        case waiting
        case working
    }

    /// Takes an idle connection or opens one.
    ///
    /// - Parameter open: opens the connection with a number.
    /// - Throws: `closed`, and the errors of opening.
    func take(
        orOpen open: (Int) throws(StoreError) -> SQLiteConnection
    ) throws(StoreError) -> StoreReader {
        let place = try place()
        switch place {
        case .idle(let reader): return reader
        case .free(let number, let generation):
            do {
                return StoreReader(try open(number), number: number, generation)
            } catch {
                condition.lock()
                defer { condition.unlock() }
                numbers.remove(number)
                throw error
            }
        }
    }

    private enum Place {
        case idle(StoreReader)
        case free(Int, generation: Int)
    }

    private func place() throws(StoreError) -> Place {
        condition.lock()
        defer { condition.unlock() }
        guard !isClosed else { throw DocumentStore.closed }
        if let reader = idle.popLast() { return .idle(reader) }
        var number = 0
        while !numbers.insert(number).inserted { number += 1 }
        return .free(number, generation: generation)
    }

    /// Returns a connection to the pool; closes the last one when there are enough, and all when
    /// the store is closed.
    func give(_ reader: StoreReader) {
        condition.lock()
        defer { condition.unlock() }
        guard !isClosed else { return }
        guard reader.generation == generation else {
            numbers.remove(reader.number)
            return
        }
        if reader.isHolding {
            reader.round = round
            if keeper != .working { wakeKeeper(reader) }
        }
        let after = idle.firstIndex { $0.number < reader.number } ?? idle.endIndex
        idle.insert(reader, at: after)
        if idle.count > Self.idleMax { numbers.remove(idle.removeFirst().number) }
    }

    /// Ends the transactions that idle connections hold, so that a checkpoint can pass.
    func release() {
        condition.lock()
        defer { condition.unlock() }
        for reader in idle where reader.isHolding { reader.release() }
    }

    /// Closes idle connections now and used ones on return, because the file was replaced.
    func forget() {
        condition.lock()
        defer { condition.unlock() }
        generation += 1
        for reader in idle { numbers.remove(reader.number) }
        idle.removeAll()
    }

    /// Closes idle connections; used ones are closed on return.
    func close() {
        condition.lock()
        defer { condition.unlock() }
        isClosed = true
        idle.removeAll()
        condition.signal()
    }

    private func wakeKeeper(_ reader: StoreReader) {
        switch keeper {
        case .waiting: condition.signal()
        case .absent:
            guard DetachedThread.start({ self.keep() }) else { return reader.release() }
        case .working: return
        }
        keeper = .working
    }

    private func keep() {
        condition.lock()
        defer { condition.unlock() }
        while !isClosed {
            if idle.contains(where: { $0.isHolding }) {
                condition.wait(milliseconds: Self.idleMS)
                for reader in idle where reader.isHolding && reader.round < round {
                    reader.release()
                }
                round += 1
            } else {
                keeper = .waiting
                condition.wait()
            }
        }
    }
}

/// A connection for reading, used by one thread at a time.
final class StoreReader {
    let connection: SQLiteConnection
    /// The connection's number in the pool.
    let number: Int
    /// The generation of the store's file that it reads.
    let generation: Int
    /// The keeper's round of its last use.
    fileprivate(set) var round = 0
    /// The header from before the open transaction began; `nil` without an open one.
    private var header: WALHeader?

    init(_ connection: SQLiteConnection, number: Int, _ generation: Int) {
        self.connection = connection
        self.number = number
        self.generation = generation
    }

    /// Whether a transaction is open between two reads.
    var isHolding: Bool { header != nil }

    /// Runs a body on the newest committed snapshot.
    func read<R>(_ body: (ReadTransaction) throws -> R) throws -> R {
        try begin()
        let transaction = ReadTransaction(connection: connection)
        defer { transaction.finish() }
        do {
            let result = try body(transaction)
            if !isHolding { try connection.run(.commit) }
            return result
        } catch {
            header = nil
            try connection.rollback()
            throw error
        }
    }

    private func begin() throws(StoreError) {
        // Read before the transaction begins: if a commit occurs in between, the next read notices.
        let now = connection.walHeader
        if let header {
            if header == now { return }
            release()
        }
        connection.catalogCache.invalidate()
        // An earlier transaction whose end failed.
        if connection.isInTransaction { try connection.rollback() }
        try connection.run(.begin)
        header = now
    }

    /// Ends the open transaction.
    fileprivate func release() {
        header = nil
        do throws(StoreError) {
            try connection.rollback()
        } catch {
            // If ending a read transaction fails, the next read, which begins one, reports the
            // error.
            return
        }
    }
}
