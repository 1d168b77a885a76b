/// Keeps connections for reading, and between the reads of a burst the state that they see.
///
/// A read transaction that stays open saves the next read the locks of a new one, more than half of
/// its time. Before it is used again the header of the log's index tells whether any process has
/// committed since; then it is begun anew, so that no read sees less than what was committed before
/// it. A transaction is given up when this store writes and when it was idle for a moment, because
/// checkpoints cannot pass it.
///
/// Connections are numbered from 0 and the lowest that is idle is used: the more read at a time, the
/// less each may cache, so that all together stay within twice what the first may.
final class ReaderPool: @unchecked Sendable {
    /// How many idle connections are kept.
    static let idleMax = 4
    /// An open transaction is given up after one to two of these without a read, in milliseconds.
    static let idleMS = 10

    private let condition = ThreadCondition()
    /// The lowest number last.
    private var idle: [StoreReader] = []
    /// The numbers of connections that are idle or in use.
    private var numbers: Set<Int> = []
    private var isClosed = false
    /// Counts how often the file was another one.
    private var generation = 0
    /// Counts the keeper's rounds.
    private var round = 0
    private var keeper = Keeper.absent

    /// What the thread that gives transactions up does.
    private enum Keeper {
        case absent
        case waiting
        case working
    }

    /// Takes an idle connection out, or opens one.
    ///
    /// - Parameter open: opens the connection of a number.
    /// - Throws: `closed`, and what opening throws.
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

    /// Puts a connection back; when there are enough the last is closed, and all when the store is.
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

    /// Returns up the transactions that idle connections hold, so that a checkpoint can pass.
    func release() {
        condition.lock()
        defer { condition.unlock() }
        for reader in idle where reader.isHolding { reader.release() }
    }

    /// Closes idle connections, and those in use once they are given back, as the file is another one.
    func forget() {
        condition.lock()
        defer { condition.unlock() }
        generation += 1
        for reader in idle { numbers.remove(reader.number) }
        idle.removeAll()
    }

    /// Closes idle connections; those in use are closed when they are given back.
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

/// Reads on a connection of its own; used by one thread at a time.
final class StoreReader {
    let connection: SQLiteConnection
    /// Its number among the pool's connections.
    let number: Int
    /// Which of the files that were at the store's place it reads.
    let generation: Int
    /// The keeper's round in which it was used last.
    fileprivate(set) var round = 0
    /// The header from before the open transaction began; `nil` when none stays open.
    private var header: WALHeader?
    /// The table that was used last, as the open transaction sees it.
    private var lastTable: CollectionTable?

    init(_ connection: SQLiteConnection, number: Int, _ generation: Int) {
        self.connection = connection
        self.number = number
        self.generation = generation
    }

    /// Whether a transaction is open between two reads.
    var isHolding: Bool { header != nil }

    /// Runs a body on the newest committed state.
    func read<R>(_ body: (ReadTransaction) throws -> R) throws -> R {
        try begin()
        let transaction = ReadTransaction(
            connection: connection, lastTable: lastTable)
        defer { transaction.finish() }
        do {
            let result = try body(transaction)
            if isHolding {
                lastTable = transaction.lastTable
            } else {
                try connection.run(.commit)
            }
            return result
        } catch {
            header = nil
            try connection.rollback()
            throw error
        }
    }

    private func begin() throws(StoreError) {
        // Looked at before the transaction begins: if a commit comes between, the next read notices.
        let now = connection.walHeader
        if let header {
            if header == now { return }
            release()
        }
        lastTable = nil
        connection.catalogCache.invalidate()
        // One that could not be ended before.
        if connection.isInTransaction { try connection.rollback() }
        try connection.run(.begin)
        header = now
    }

    /// Ends the open transaction.
    fileprivate func release() {
        header = nil
        lastTable = nil
        do throws(StoreError) {
            try connection.rollback()
        } catch {
            // A read transaction that cannot be ended says so at the next read, which begins one.
            return
        }
    }
}
