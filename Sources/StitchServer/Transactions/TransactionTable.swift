internal import BSONStore

/// A transaction that a session holds open.
protocol HeldTransaction: AnyObject, Sendable {
    var session: [UInt8] { get }
    var number: Int64 { get }
    var startedAt: ContinuousClock.Instant { get }

    /// Whether the transaction was aborted.
    var isAborted: Bool { get }

    /// Whether it must end for a writer that waits: it is idle, or has blocked the writer for too
    /// long.
    ///
    /// - Parameter isOther: whether the writer has another owner.
    func isOverdue(forOther isOther: Bool, _ patience: WriterPatience) -> Bool

    /// Commits the changes; does nothing if committed already.
    func commit() throws

    /// Reverts all changes, ends the transaction and waits for a command that uses it.
    ///
    /// - Returns: whether no change persists; `false` when it was committed.
    @discardableResult
    func abort() -> Bool

    /// Reverts all changes and ends the transaction without waiting.
    ///
    /// - Returns: whether no change persists; `false` when it was or is being committed.
    func giveUp() -> Bool
}

/// The transactions of all sessions.
final class TransactionTable<Transaction: HeldTransaction>: Sendable {
    private enum Phase: Sendable {
        case inProgress(Transaction)
        case committed
        case aborted
    }

    private struct Entry: Sendable {
        let number: Int64
        /// The key of the owner.
        let owner: [UInt8]
        var phase: Phase

        var transaction: Transaction? {
            if case .inProgress(let transaction) = phase { transaction } else { nil }
        }
    }

    private struct State: Sendable {
        var entries: [[UInt8]: Entry] = [:]
        /// The numbers of open transactions by owner.
        var open: [[UInt8]: Int] = [:]
        var openCount = 0

        /// Replaces the entry of a session.
        mutating func set(_ session: [UInt8], _ entry: Entry?) {
            if let before = entries[session], before.transaction != nil { count(before.owner, -1) }
            if let entry, entry.transaction != nil { count(entry.owner, 1) }
            entries[session] = entry
        }

        private mutating func count(_ owner: [UInt8], _ change: Int) {
            let count = open[owner, default: 0] + change
            open[owner] = count == 0 ? nil : count
            openCount += change
        }
    }

    /// The lifetime of a transaction.
    ///
    /// Source: the server's parameter `transactionLifetimeLimitSeconds`.
    static var lifetime: Duration { .seconds(60) }
    /// The turns of those who write.
    let turns = WriterTurns()
    private let state = Locked(State())
    private let bounds: TransactionBounds
    private let patience: WriterPatience

    /// Creates an empty table.
    init(
        bounds: TransactionBounds = TransactionBounds(),
        patience: WriterPatience = WriterPatience()
    ) {
        self.bounds = bounds
        self.patience = patience
    }

    /// Returns the transaction of a command, and starts it when the command says so.
    ///
    /// - Throws: 251 (NoSuchTransaction), 225 (TransactionTooOld), 256 (TransactionCommitted), and
    ///   365 (TemporarilyUnavailable) when too many are open.
    func enter(
        _ request: TransactionRequest, _ session: [UInt8], of owner: [UInt8] = [],
        begin: (Int64) -> Transaction
    ) throws(CommandFailure) -> Transaction {
        var replaced: Transaction?
        var pushedOut: Transaction?
        defer {
            replaced?.abort()
            _ = pushedOut?.giveUp()
        }
        return try state.withLock { (state) throws(CommandFailure) in
            let known = state.entries[session]
            if let known, known.number > request.number {
                throw TransactionFailures.tooOld(request.number, known.number)
            }
            guard request.starts else {
                guard let known, known.number == request.number else {
                    throw TransactionFailures.unknown(request.number, known?.number)
                }
                switch known.phase {
                case .inProgress(let transaction): return transaction
                case .committed: throw TransactionFailures.committed(request.number)
                case .aborted: throw TransactionFailures.aborted(request.number)
                }
            }
            if let known, known.number == request.number {
                throw CommandFailure(
                    117,
                    "Only servers in a sharded cluster can start a new transaction at the active "
                        + "transaction number")
            }
            replaced = known?.transaction
            state.set(session, nil)
            pushedOut = try makeRoom(for: owner, &state)
            let transaction = begin(request.number)
            state.set(
                session,
                Entry(number: request.number, owner: owner, phase: .inProgress(transaction)))
            return transaction
        }
    }

    /// Runs a command in its session's transaction; an error ends the transaction.
    ///
    /// - Parameters:
    ///   - lastNumber: the number of what the session did last, for a command that starts one.
    ///   - begin: makes the transaction of a number.
    /// - Throws: the errors of ``enter(_:_:of:begin:)`` and of the command, 263
    ///   (OperationNotSupportedInTransaction).
    func run(
        _ request: TransactionRequest, _ call: CommandCall, lastNumber: Int64?,
        begin: @escaping (Int64) -> Transaction,
        answer: (Transaction) throws -> CommandOutcome
    ) throws -> CommandOutcome {
        let session = call.sessionKey
        var entered: Transaction?
        do {
            if request.starts, let lastNumber, lastNumber > request.number {
                throw TransactionFailures.tooOld(request.number, lastNumber)
            }
            let transaction = try enter(
                request, session, of: TransactionBounds.owner(call.connection), begin: begin)
            entered = transaction
            let outcome = try answer(transaction)
            if case .reply(let reply) = outcome,
                reply["writeErrors"] != nil || reply["nErrors"]?.wholeNumber ?? 0 > 0
            {
                giveUp(session, request.number)
            }
            return outcome
        } catch let error as CloseConnectionRequest {
            throw error
        } catch {
            var fault = CommandFailure(error)
            // Ending the transaction under a running command interrupts the command.
            let isGivenUp = fault.code == 11601 && entered?.isAborted == true
            if isGivenUp || fault.code == StoreError.Code.closed.rawValue {
                fault = TransactionFailures.aborted(request.number)
            }
            // A command that never was in the transaction leaves it as it was.
            if entered != nil { giveUp(session, request.number) }
            let label = "TransientTransactionError"
            if ErrorLabels.transient.contains(fault.code), !fault.labels.contains(label) {
                fault.labels.append(label)
            }
            throw fault
        }
    }

    /// Makes room for one more transaction; if too many are open in total, the owner with the most
    /// gives one up.
    ///
    /// - Returns: the transaction to abort.
    /// - Throws: 365 when the owner itself has too many.
    private func makeRoom(
        for owner: [UInt8], _ state: inout State
    ) throws(CommandFailure) -> Transaction? {
        let own = state.open[owner, default: 0]
        guard own < bounds.ofOneMax else { throw TransactionFailures.tooMany(own, "of this user") }
        guard state.openCount >= bounds.countMax else { return nil }
        guard let most = state.open.max(by: { $0.value < $1.value }), most.value > own + 1,
            let oldest = state.entries.filter({ $0.value.owner == most.key })
                .compactMap({ entry in entry.value.transaction.map { (entry, $0) } })
                .min(by: { $0.1.startedAt < $1.1.startedAt })
        else { throw TransactionFailures.tooMany(state.openCount, "in all") }
        var entry = oldest.0.value
        entry.phase = .aborted
        state.set(oldest.0.key, entry)
        return oldest.1
    }

    /// Returns the open transaction with a number.
    func current(_ session: [UInt8], _ number: Int64) -> Transaction? {
        state.withLock { state in
            guard let known = state.entries[session], known.number == number else { return nil }
            return known.transaction
        }
    }

    /// Commits a transaction; succeeds again for a committed one.
    ///
    /// - Parameter wasCommitted: whether the session log says so, for a transaction unknown here.
    /// - Throws: 251 (NoSuchTransaction), and the errors of the store.
    func commit(
        _ number: Int64, _ session: [UInt8], wasCommitted: () throws -> Bool
    ) throws {
        let known = entry(session)
        guard let known, known.number == number else {
            if try wasCommitted() { return }
            throw TransactionFailures.unknown(number, known?.number)
        }
        switch known.phase {
        case .committed: return
        case .aborted: throw TransactionFailures.aborted(number)
        case .inProgress(let transaction):
            do {
                try transaction.commit()
            } catch {
                // Else a commit by an earlier copy of the command goes on.
                if transaction.isAborted { set(session, number, .aborted) }
                throw error
            }
            set(session, number, .committed)
        }
    }

    /// Aborts a transaction.
    ///
    /// - Throws: 251 (NoSuchTransaction), after which the whole transaction may be tried again, 256
    ///   (TransactionCommitted).
    func abort(_ number: Int64, _ session: [UInt8]) throws(CommandFailure) {
        let known = entry(session)
        guard let known, known.number == number else {
            throw TransactionFailures.transient(TransactionFailures.unknown(number, known?.number))
        }
        switch known.phase {
        case .committed: throw TransactionFailures.committed(number)
        case .aborted: throw TransactionFailures.transient(TransactionFailures.aborted(number))
        case .inProgress(let transaction):
            guard transaction.abort() else { throw TransactionFailures.committed(number) }
            set(session, number, .aborted)
        }
    }

    private func set(_ session: [UInt8], _ number: Int64, _ phase: Phase) {
        state.withLock { state in
            guard var entry = state.entries[session], entry.number == number else { return }
            entry.phase = phase
            state.set(session, entry)
        }
    }

    private func entry(_ session: [UInt8]) -> Entry? {
        state.withLock { $0.entries[session] }
    }

    /// Aborts a session's transaction, after an error or at the session's end.
    ///
    /// - Parameter number: the number of the transaction, which a newer one may have replaced; `nil` for
    ///   whichever there is.
    func giveUp(_ session: [UInt8], _ number: Int64? = nil) {
        guard let known = entry(session), number ?? known.number == known.number,
            let transaction = known.transaction
        else { return }
        if transaction.abort() { set(session, known.number, .aborted) }
    }

    /// Aborts the transaction of an ended session and removes its entry.
    func forget(_ session: [UInt8]) {
        giveUp(session)
        state.withLock { $0.set(session, nil) }
    }

    /// Aborts transactions that last too long or block writers for too long, without waiting for
    /// them.
    func tidy(olderThan age: Duration = lifetime, whileOthersWait: Bool) {
        let limit = ContinuousClock.now - age
        for transaction in inProgress
        where transaction.startedAt <= limit
            || whileOthersWait && transaction.isOverdue(forOther: false, patience)
        {
            end(transaction)
        }
    }

    /// Aborts a transaction whose time is over.
    func end(_ transaction: Transaction) {
        if transaction.giveUp() { set(transaction.session, transaction.number, .aborted) }
    }

    /// Aborts all transactions and waits for them.
    func giveUpAll() {
        for transaction in inProgress { giveUp(transaction.session) }
    }

    var inProgress: [Transaction] {
        state.withLock { state in state.entries.values.compactMap(\.transaction) }
    }
}

extension TransactionTable where Transaction == SessionTransaction {
    /// The time between two looks whether a transaction has kept a writer waiting for too long.
    private static var lookMilliseconds: Int { 20 }
    /// The time for which a transaction's first write waits for its turn.
    private static var turnMax: Duration { .milliseconds(200) }
    /// The time for which it does so after a transaction of another owner: longer than that one may
    /// keep it waiting.
    private static var turnAfterOthersMax: Duration { .milliseconds(700) }

    /// Makes way for a reader of a store in memory: waits for the transaction that blocks it, and
    /// aborts it if it is idle or blocks for too long.
    ///
    /// - Throws: the interruption of the waiting command.
    func makeWay(of owner: [UInt8] = []) throws(StoreError) {
        for transaction in inProgress where transaction.keepsOthersOut {
            let hasEnded = try transaction.waitForEnd(
                forOther: Self.isOther(owner, transaction), patience)
            if !hasEnded { end(transaction) }
        }
    }

    /// Makes way for a write that is one transaction: waits for its turn, and aborts transactions
    /// that are idle or block it for too long.
    ///
    /// - Throws: the interruption of the waiting command.
    func makeWay(for place: WriterTurns.Place) throws(StoreError) {
        while try !turns.begin(place) {
            _ = endOverdue(for: place.owner)
            if try turns.begin(place, within: Self.lookMilliseconds) { break }
        }
        try makeWay(of: place.owner)
    }

    /// Makes way for a transaction's first write: waits for its turn, and aborts transactions that
    /// are idle or block it for too long.
    ///
    /// Until the transaction ends no other writer has a turn.
    ///
    /// - Throws: 112 (WriteConflict) when the others do not end soon.
    func makeWay(for other: SessionTransaction) throws {
        guard !other.keepsOthersOut else { return }
        let place = turns.enter(other.owner, .transaction)
        do {
            try awaitTurn(place)
            try other.beginWriting()
        } catch {
            turns.leave(place)
            throw error
        }
        other.whenEnded { [turns] in turns.leave(place) }
    }

    private func awaitTurn(_ place: WriterTurns.Place) throws {
        let start = ContinuousClock.now
        var isAfterOthers = false
        repeat {
            if endOverdue(for: place.owner) { isAfterOthers = true }
            if try turns.begin(place, within: Self.lookMilliseconds) { return }
        } while .now - start < (isAfterOthers ? Self.turnAfterOthersMax : Self.turnMax)
        throw SessionTransaction.conflict
    }

    /// Aborts the transactions that have kept a writer waiting for too long.
    ///
    /// - Returns: whether a transaction of another owner keeps the writer waiting.
    private func endOverdue(for owner: [UInt8]) -> Bool {
        var isAfterOthers = false
        for transaction in inProgress where transaction.keepsOthersOut {
            let isOther = Self.isOther(owner, transaction)
            isAfterOthers = isAfterOthers || isOther
            if transaction.isOverdue(forOther: isOther, patience) { end(transaction) }
        }
        return isAfterOthers
    }

    /// Whether a transaction is another owner's than a writer, and not as good as over.
    ///
    /// The server itself is as patient as the owner.
    private static func isOther(_ owner: [UInt8], _ transaction: SessionTransaction) -> Bool {
        !owner.isEmpty && owner != transaction.owner && !transaction.isBrief
    }
}

/// The errors of commands that name a transaction, with MongoDB's texts.
enum TransactionFailures {
    static func tooMany(_ count: Int, _ whose: String) -> CommandFailure {
        var fault = CommandFailure(
            365,
            "\(count) transactions \(whose) are open, and no more may be; commit or abort some, or "
                + "try again later.")
        fault.labels.append("TransientTransactionError")
        return fault
    }

    static func unknown(_ number: Int64, _ active: Int64?) -> CommandFailure {
        CommandFailure(
            251,
            "Given transaction number \(number) does not match any in-progress transactions. "
                + "The active transaction number is \(active ?? -1)")
    }

    static func committed(_ number: Int64) -> CommandFailure {
        CommandFailure(256, "Transaction with { txnNumber: \(number) } has been committed.")
    }

    static func aborted(_ number: Int64) -> CommandFailure {
        CommandFailure(251, "Transaction with { txnNumber: \(number) } has been aborted.")
    }

    /// Returns the failure of a commit or abort after which the whole transaction may be tried again.
    static func transient(_ fault: CommandFailure) -> CommandFailure {
        var fault = fault
        fault.labels = ["TransientTransactionError"]
        return fault
    }

    /// The error of a write outside of transactions with the number of a transaction.
    static let mustNameTransaction = CommandFailure(
        .invalidOptions,
        "Must specify autocommit=false on all operations of a multi-statement transaction.")

    static func retryTooOld(_ number: Int64, _ newer: Int64) -> CommandFailure {
        CommandFailure(
            225,
            "Retryable write with txnNumber \(number) is prohibited on session "
                + "because a newer retryable write with txnNumber \(newer) has "
                + "already started on this session.")
    }

    static func tooOld(_ number: Int64, _ newer: Int64) -> CommandFailure {
        CommandFailure(
            225,
            "Cannot start transaction \(number) on session because a newer transaction with "
                + "txnNumber \(newer) has already started on this session.")
    }
}
