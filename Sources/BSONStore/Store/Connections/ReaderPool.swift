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
final class ReaderPool: Sendable {
    /// The largest number of idle connections.
    static let idleMax = 4
    /// The keeper's interval in milliseconds; a transaction without reads ends after one to two
    /// intervals.
    static let idleMS = 10
    /// The time in milliseconds without an open transaction after which the keeper's thread ends.
    static let keeperIdleMS = 5_000

    private struct State {
        /// The idle connections, the lowest number last.
        var idle: [StoreReader] = []
        /// The numbers of connections that are idle or in use.
        var numbers: Set<Int> = []
        var isClosed = false
        /// The number of times that the file was replaced.
        var generation = 0
        /// The number of the keeper's rounds.
        var round = 0
        var keeper = Keeper.absent
    }

    /// The state of the thread that ends idle transactions.
    private enum Keeper {
        case absent
        case waiting
        case working
    }

    private let state = ThreadCondition(State())

    /// Takes an idle connection or opens one.
    ///
    /// - Parameter open: opens the connection with a number.
    /// - Throws: `closed`, and the errors of opening.
    func take(
        orOpen open: (Int) throws(StoreError) -> SQLiteConnection
    ) throws(StoreError) -> StoreReader {
        switch try state.withLock(Self.place) {
        case .idle(let reader): return reader
        case .free(let number, let generation):
            do {
                return StoreReader(try open(number), number: number, generation)
            } catch {
                state.withLock { _ = $0.numbers.remove(number) }
                throw error
            }
        }
    }

    private enum Place {
        case idle(StoreReader)
        case free(Int, generation: Int)
    }

    private static func place(_ state: inout State) throws(StoreError) -> Place {
        guard !state.isClosed else { throw DocumentStore.closed }
        if let reader = state.idle.popLast() { return .idle(reader) }
        var number = 0
        while !state.numbers.insert(number).inserted { number += 1 }
        return .free(number, generation: state.generation)
    }

    /// Returns a connection to the pool; closes the last one when there are enough, and all when
    /// the store is closed.
    func give(_ reader: StoreReader) {
        state.withLock { state in
            guard !state.isClosed else { return }
            guard reader.generation == state.generation else {
                state.numbers.remove(reader.number)
                return
            }
            if reader.isHolding {
                reader.round = state.round
                if state.keeper != .working { wakeKeeper(reader, &state) }
            }
            let after =
                state.idle.firstIndex { $0.number < reader.number } ?? state.idle.endIndex
            state.idle.insert(reader, at: after)
            if state.idle.count > Self.idleMax {
                state.numbers.remove(state.idle.removeFirst().number)
            }
        }
    }

    /// Ends the transactions that idle connections hold, so that a checkpoint can pass.
    func release() {
        state.withLock { state in
            for reader in state.idle where reader.isHolding { reader.release() }
        }
    }

    /// Closes idle connections now and used ones on return, because the file was replaced.
    func forget() {
        state.withLock { state in
            state.generation += 1
            for reader in state.idle { state.numbers.remove(reader.number) }
            state.idle.removeAll()
        }
    }

    /// Closes idle connections; used ones are closed on return.
    ///
    /// - Returns: whether a connection is used now.
    func close() -> Bool {
        state.withLock(waking: .one) { state in
            let isUsed = state.numbers.count > state.idle.count
            state.isClosed = true
            state.idle.removeAll()
            return isUsed
        }
    }

    private func wakeKeeper(_ reader: StoreReader, _ state: inout State) {
        switch state.keeper {
        case .waiting: self.state.wake(.one)
        case .absent:
            guard DetachedThread.start({ self.keep() }) else { return reader.release() }
        case .working: return
        }
        state.keeper = .working
    }

    /// Ends transactions without reads, in rounds, until the pool is closed or was idle for long.
    private func keep() {
        var isRoundOver = false
        var isIdle = false
        state.wait { state in
            if isRoundOver {
                for reader in state.idle where reader.isHolding && reader.round < state.round {
                    reader.release()
                }
                state.round += 1
                isRoundOver = false
            }
            if state.isClosed { return .done(()) }
            guard state.idle.contains(where: { $0.isHolding }) else {
                guard !isIdle else {
                    state.keeper = .absent
                    return .done(())
                }
                isIdle = true
                state.keeper = .waiting
                return .forSignalOr(milliseconds: Self.keeperIdleMS)
            }
            (isRoundOver, isIdle) = (true, false)
            return .forSignalOr(milliseconds: Self.idleMS)
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
